import { isNewEnough } from './node-version.mjs';

describe('isNewEnough', () => {
  it.each(['v22.22.0', '22.22.3', 'v24.0.0', 'v100.1.0'])('accepts %s', (version) => {
    expect(isNewEnough(version)).toBe(true);
  });

  it.each(['v22.21.9', 'v20.30.0', 'v9.99.0', '', 'later'])('refuses %j', (version) => {
    expect(isNewEnough(version)).toBe(false);
  });
});
