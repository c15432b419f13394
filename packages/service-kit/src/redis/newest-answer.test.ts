import { newestAnswer, type MasterClaim } from './newest-answer.js';

const places = (count: number) => Array.from({ length: count }, (_, index) => ({ host: `h${String(index)}`, port: 1 }));
const claim = (host: string, epoch: number): MasterClaim => ({ host, port: 6379, epoch });
const never = new Promise<never>(() => undefined);

/** What each of the places says. */
function ask(...answers: readonly Promise<MasterClaim>[]) {
  return ({ host }: { readonly host: string }) => answers[Number(host.slice(1))] ?? never;
}

describe('the newest of what is said', () => {
  it('is believed, whoever answers first', async () => {
    const said = [claim('old', 1), claim('new', 2)].map((one) => Promise.resolve(one));
    expect(await newestAnswer(places(3), ask(...said, never))).toMatchObject({ host: 'new' });
    expect(await newestAnswer(places(3), ask(...said.reverse(), never))).toMatchObject({ host: 'new' });
  });

  it('is waited for until a majority has answered, and no longer', async () => {
    let answer: (value: MasterClaim) => void = () => undefined;
    const late = new Promise<MasterClaim>((resolve) => (answer = resolve));
    const asked = newestAnswer(places(3), ask(Promise.resolve(claim('old', 1)), late, never));
    const first = await Promise.race([asked, new Promise((resolve) => setImmediate(resolve, 'nobody yet'))]);
    expect(first).toBe('nobody yet');
    answer(claim('new', 2));
    expect(await asked).toMatchObject({ host: 'new' });
  });

  it('is what one says when the others cannot be asked', async () => {
    const gone = Promise.reject(new Error('gone'));
    expect(await newestAnswer(places(3), ask(gone, Promise.resolve(claim('one', 1)), gone))).toMatchObject({
      host: 'one',
    });
  });

  it('is nothing, with the reason, when nobody says anything', async () => {
    const gone = Promise.reject(new Error('gone'));
    await expect(newestAnswer(places(2), ask(gone, gone))).rejects.toThrow('gone');
    await expect(newestAnswer([], ask())).rejects.toThrow('nobody to ask');
  });
});
