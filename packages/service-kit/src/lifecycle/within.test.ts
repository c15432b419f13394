import { within } from './within.js';

it('a bounded wait says whether what it waited for has come, well or not', async () => {
  expect(await within(60_000, Promise.resolve('well'))).toBe(true);
  expect(await within(60_000, Promise.reject(new Error('badly')))).toBe(true);
  expect(await within(1, new Promise(() => undefined))).toBe(false);
});
