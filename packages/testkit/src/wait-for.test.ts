import { eventually, waitFor } from './wait-for.js';

describe('waitFor', () => {
  it('gives the first value that is truthy', async () => {
    let looks = 0;
    expect(await waitFor(() => ++looks >= 3 && `look ${String(looks)}`, { intervalMs: 1 })).toBe('look 3');
  });

  it('takes a failure for not yet', async () => {
    let looks = 0;
    const value = await waitFor(
      async () => {
        looks += 1;
        if (looks < 3) throw new Error('away');
        return Promise.resolve(looks);
      },
      { intervalMs: 1 },
    );
    expect(value).toBe(3);
  });

  it('fails with what it waited for and the last failure', async () => {
    const attempt = waitFor(() => Promise.reject(new Error('still away')), {
      timeoutMs: 30,
      intervalMs: 1,
      what: 'the peer',
    });
    await expect(attempt).rejects.toThrow('waited 30 ms for the peer; last: still away');
    await expect(waitFor(() => 0, { timeoutMs: 5, intervalMs: 1 })).rejects.toThrow(/the condition gave 0/u);
  });
});

describe('eventually', () => {
  it('gives what the first attempt without a failure gives, even nothing', async () => {
    let attempts = 0;
    await eventually(() => {
      attempts += 1;
      expect(attempts).toBe(3);
    });
    expect(attempts).toBe(3);
  });

  it('keeps to its time although an attempt never settles', async () => {
    const attempt = eventually(() => new Promise(() => undefined), { timeoutMs: 20 });
    await expect(attempt).rejects.toThrow(/waited 20 ms.*first attempt had not settled/u);
  });
});
