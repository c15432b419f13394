import { type AskApproval, type ApprovalAnswer, Approvals, isAllowed } from './approvals.js';

function request(toolName = 'shell', signal = new AbortController().signal) {
  return { callId: 'c', toolName, arguments: {}, signal };
}

function answering(...answers: ApprovalAnswer[]): { ask: AskApproval; asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    ask: ({ toolName }) => {
      asked.push(toolName);
      return Promise.resolve(answers.shift() ?? 'no');
    },
  };
}

describe('isAllowed', () => {
  it.each([
    ['read_file', 'read_only', ['read'], true],
    ['read_file', 'read_only', ['write', 'shell'], false],
    ['write_file', 'side_effecting', ['write'], true],
    ['edit_file', 'side_effecting', ['read'], false],
    ['shell', 'side_effecting', ['shell'], true],
    ['shell', 'side_effecting', ['read', 'write'], false],
    ['mail__send', 'side_effecting', ['read', 'write', 'shell'], false],
    ['mail__send', 'side_effecting', ['all'], true],
  ] as const)('%s (%s) with %j: %s', (name, effect, allowed, expected) => {
    expect(isAllowed({ name, effect }, new Set(allowed))).toBe(expected);
  });
});

describe('Approvals', () => {
  it.each([
    ['yes', true],
    ['no', false],
    ['always', true],
    ['never', false],
  ] as const)('%s: approved %s', async (answer, approved) => {
    expect(await new Approvals(answering(answer).ask).decide(request())).toMatchObject({ approved });
  });

  it.each([
    ['always', true],
    ['never', false],
  ] as const)('remembers %s for that tool only', async (answer, approved) => {
    const { ask, asked } = answering(answer);
    const approvals = new Approvals(ask);
    await approvals.decide(request('shell'));
    expect(await approvals.decide(request('shell'))).toMatchObject({ approved });
    expect(await approvals.decide(request('write_file'))).toMatchObject({ approved: false });
    expect(asked).toEqual(['shell', 'write_file']);
  });

  it('asks about one call at a time', async () => {
    const open: PromiseWithResolvers<ApprovalAnswer>[] = [];
    const approvals = new Approvals(() => {
      const answer = Promise.withResolvers<ApprovalAnswer>();
      open.push(answer);
      return answer.promise;
    });
    const first = approvals.decide(request());
    const second = approvals.decide(request());
    await new Promise(setImmediate);
    expect(open).toHaveLength(1);
    open[0]?.resolve('always');
    expect(await Promise.all([first, second])).toMatchObject([{ approved: true }, { approved: true }]);
    expect(open).toHaveLength(1);
  });

  it('refuses when asking fails, and still asks the next time', async () => {
    let count = 0;
    const approvals = new Approvals(() => {
      count += 1;
      return count === 1 ? Promise.reject(new Error('no terminal')) : Promise.resolve('yes');
    });
    expect(await approvals.decide(request())).toMatchObject({ approved: false });
    expect(await approvals.decide(request())).toMatchObject({ approved: true });
  });

  it('refuses a call that was given up, also if somebody says yes too late', async () => {
    const controller = new AbortController();
    const answer = Promise.withResolvers<ApprovalAnswer>();
    const approvals = new Approvals(() => answer.promise);
    const decision = approvals.decide(request('shell', controller.signal));
    await new Promise(setImmediate);
    controller.abort();
    answer.resolve('yes');
    expect(await decision).toMatchObject({ approved: false });
    expect(await approvals.decide(request('shell', controller.signal))).toMatchObject({ approved: false });
  });
});
