import type { ServerCallContext } from '@a2a-js/sdk/server';
import { AppError } from '@parley/service-kit';
import { asTask, callBy, echo, sending, stateIn, testEngine } from '../../../test-support/a2a-engine.js';
import { AGREEMENT_EXTENSION } from '../agreement/agreement-extension.js';
import type { AdmittedWork, AgreementGate } from '../agreement/agreement-gate.js';

/** Admits whoever shows the right proof; counts a message once, as a keeper does. */
class ProofGate implements AgreementGate {
  readonly asked: string[] = [];
  readonly counted = new Set<string>();
  held = 0;
  isEnded = false;

  admit(...[message, call]: Parameters<AgreementGate['admit']>): Promise<AdmittedWork | undefined> {
    const proof = String(call.state.get('proof'));
    this.asked.push(proof);
    if (proof !== 'right') return Promise.reject(new AppError('not_found', 'No.', { code: 'agreement_unknown' }));
    if (this.isEnded) return Promise.reject(new AppError('gone', 'Over.', { code: 'agreement_ended' }));
    this.counted.add(message.messageId);
    this.held += 1;
    let isReleased = false;
    return Promise.resolve({
      agreement: { agreementId: 'agr-1', termsDigest: 'd' },
      capability: 'translate',
      parameters: {},
      answerMetadata: {},
      release: () => {
        if (!isReleased) this.held -= 1;
        isReleased = true;
        return Promise.resolve();
      },
    });
  }
}

const metadata = { [AGREEMENT_EXTENSION]: { agreement_id: 'agr-1', terms_digest: 'd' } };

/** The same caller each time, as far as tasks go: the proof is the gate's to look at. */
function showing(proof: string): ServerCallContext {
  const call = callBy('ann');
  call.state.set('proof', proof);
  return call;
}

describe('a message under an agreement that is sent again', () => {
  const request = () => sending('x', { messageId: 'same', metadata: structuredClone(metadata) });

  it('shows its proof again, gets the same task, and costs and holds nothing more', async () => {
    const gate = new ProofGate();
    const { handler } = testEngine({ gate, work: echo });
    const first = asTask(await handler.sendMessage(request(), showing('right')));
    const second = asTask(await handler.sendMessage(request(), showing('right')));
    expect(second.id).toBe(first.id);
    expect(gate.asked).toEqual(['right', 'right']);
    expect([gate.counted.size, gate.held]).toEqual([1, 0]);
  });

  it('is refused once the agreement has ended, though the answer is known', async () => {
    const gate = new ProofGate();
    const { handler } = testEngine({ gate, work: echo });
    await handler.sendMessage(request(), showing('right'));
    gate.isEnded = true;
    await expect(handler.sendMessage(request(), showing('right'))).rejects.toMatchObject({ code: 'agreement_ended' });
    await expect(handler.sendMessageStream(request(), showing('right')).next()).rejects.toMatchObject({
      code: 'agreement_ended',
    });
    expect(gate.held).toBe(0);
  });

  it('is refused while the work goes on, and the work goes on all the same', async () => {
    const gate = new ProofGate();
    const { handler, executor } = testEngine({ gate });
    const answer = handler.sendMessage(request(), showing('right'));
    const work = await executor.work();
    gate.isEnded = true;
    await expect(handler.sendMessage(request(), showing('right'))).rejects.toMatchObject({ code: 'agreement_ended' });
    expect(gate.held).toBe(1);
    work.end();
    expect(stateIn(asTask(await answer))).toBe('COMPLETED');
    expect([gate.held, executor.works.length]).toEqual([0, 1]);
  });

  it('from somebody without the proof gets nothing', async () => {
    const gate = new ProofGate();
    const { handler } = testEngine({ gate, work: echo });
    await handler.sendMessage(request(), showing('right'));
    await expect(handler.sendMessage(request(), showing('wrong'))).rejects.toMatchObject({
      code: 'agreement_unknown',
    });
  });

  it('names no agreement where there was none: nobody is asked twice', async () => {
    const gate = new ProofGate();
    const { handler } = testEngine({ gate, work: echo });
    const plain = () => sending('x', { messageId: 'same' });
    await handler.sendMessage(plain(), showing('right'));
    await handler.sendMessage(plain(), showing('right'));
    expect(gate.asked).toEqual(['right']);
  });
});

describe('how long a message is remembered', () => {
  const setting = (rememberMessagesMs?: number) => {
    let now = 1_000_000;
    const { handler } = testEngine({
      work: echo,
      now: () => now,
      ...(rememberMessagesMs === undefined ? {} : { limits: { rememberMessagesMs } }),
    });
    return {
      pass: (ms: number) => {
        now += ms;
      },
      send: async (text = 'x') => asTask(await handler.sendMessage(sending(text, { messageId: 'same' }), callBy())).id,
    };
  };

  it.each([
    ['as said', 5_000, 5_000],
    ['by default', undefined, 600_000],
  ])('is limited, %s', async (_how, rememberMessagesMs, ms) => {
    const { pass, send } = setting(rememberMessagesMs);
    const first = await send();
    pass(ms - 1);
    expect(await send()).toBe(first);
    pass(1);
    const second = await send();
    expect(second).not.toBe(first);
    pass(ms - 1);
    expect(await send()).toBe(second);
  });

  it('may be not at all', async () => {
    const { send } = setting(0);
    expect(await send()).not.toBe(await send());
  });

  it('is for its words, not for its id alone', async () => {
    const { send } = setting();
    expect(await send('one')).not.toBe(await send('two'));
  });
});
