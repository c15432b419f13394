import type { AnyMessage } from '@agentclientprotocol/sdk';
import { TurnGate, type Turn } from './turn-gate.js';

class SpyTurn implements Turn {
  readonly seen: unknown[] = [];

  constructor(readonly sessionId = 's1') {}

  onSent(): void {
    this.seen.push('sent');
  }

  onTraffic(): void {
    // Counted elsewhere.
  }

  onUpdate(update: unknown): void {
    this.seen.push(update);
  }

  onAnswered(): void {
    this.seen.push('answered');
  }
}

const prompt = { jsonrpc: '2.0', id: 2, method: 'session/prompt', params: {} } as const;
const answer = (id: number): AnyMessage => ({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } });
const update = (what: string, sessionId = 's1'): AnyMessage => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId, update: what },
});
const question = (id: string): AnyMessage => ({ jsonrpc: '2.0', id, method: 'session/request_permission', params: {} });

function gateWith(turn: Turn, onFlood: () => void = () => undefined): TurnGate {
  const gate = new TurnGate(onFlood);
  gate.begin(turn);
  return gate;
}

function send(gate: TurnGate, message: AnyMessage): void {
  gate.outgoing(message);
  gate.written(message);
}

describe('what a child sends', () => {
  it('belongs to the turn from when its prompt leaves until its answer comes', () => {
    const turn = new SpyTurn();
    const gate = gateWith(turn);
    gate.incoming(update('before'));
    expect(gate.isOpen).toBe(false);
    send(gate, prompt);
    gate.incoming(update('one'));
    gate.incoming(update('two'));
    expect(gate.isOpen).toBe(true);
    gate.incoming(answer(2));
    gate.incoming(update('after'));
    expect(gate.isOpen).toBe(false);
    expect(turn.seen).toEqual(['sent', 'one', 'two', 'answered']);
  });

  it('belongs to the turn as soon as the prompt leaves, before all of it was taken', () => {
    const turn = new SpyTurn();
    const gate = gateWith(turn);
    gate.outgoing(prompt);
    gate.incoming(update('quick'));
    gate.incoming(answer(2));
    gate.written(prompt);
    expect(turn.seen).toEqual(['quick', 'answered', 'sent']);
  });

  it('of another session is counted, and reaches no turn', () => {
    const turn = new SpyTurn();
    const gate = gateWith(turn);
    send(gate, prompt);
    gate.incoming(update('foreign', 's0'));
    gate.incoming({ jsonrpc: '2.0', method: 'session/update' });
    expect(turn.seen).toEqual(['sent']);
    expect(gate.foreignUpdates).toBe(2);
  });

  it('of an earlier session cannot reach the next turn', () => {
    const [first, second] = [new SpyTurn('s1'), new SpyTurn('s2')];
    const gate = gateWith(first);
    send(gate, prompt);
    gate.incoming(answer(2));
    gate.end(first);
    gate.begin(second);
    send(gate, { ...prompt, id: 4 });
    gate.incoming(update('late words', 's1'));
    gate.incoming(answer(2));
    expect(second.seen).toEqual(['sent']);
    gate.incoming(answer(4));
    expect(second.seen).toEqual(['sent', 'answered']);
  });

  it('is dropped when the turn was left, and an old turn cannot end a new one', () => {
    const [first, second] = [new SpyTurn('s1'), new SpyTurn('s1')];
    const gate = gateWith(first);
    gate.begin(second);
    gate.end(first);
    send(gate, prompt);
    gate.end(second);
    gate.incoming(update('late'));
    expect(second.seen).toEqual(['sent']);
  });

  it('reaches the library if it is for it: answers once, and only those that were asked for', () => {
    const gate = gateWith(new SpyTurn());
    send(gate, prompt);
    expect(gate.incoming(answer(7))).toBe(false);
    expect(gate.incoming(answer(2))).toBe(true);
    expect(gate.incoming(answer(2))).toBe(false);
    expect(gate.incoming({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'what?' } })).toBe(false);
    expect(gate.incoming(question('a'))).toBe(true);
    expect(gate.incoming({ jsonrpc: '2.0', method: 'weather/changed' })).toBe(true);
    expect(gate.incoming(update('one'))).toBe(false);
  });

  it('is too much when a thousand questions wait, not when a thousand were answered', () => {
    let floods = 0;
    const gate = gateWith(new SpyTurn(), () => (floods += 1));
    for (let i = 0; i < 2_000; i += 1) {
      gate.incoming(question(`${i}`));
      send(gate, { jsonrpc: '2.0', id: `${i}`, result: {} });
    }
    expect(floods).toBe(0);
    for (let i = 0; i < 2_000; i += 1) gate.incoming(question(`${i}`));
    expect(floods).toBe(1);
  });

  it('is answered when the last answer was taken', async () => {
    const gate = gateWith(new SpyTurn());
    await gate.answered;
    gate.incoming(question('a'));
    gate.incoming(question('b'));
    let isAnswered = false;
    const answered = gate.answered.then(() => {
      isAnswered = true;
    });
    send(gate, { jsonrpc: '2.0', id: 'b', result: {} });
    gate.outgoing({ jsonrpc: '2.0', id: 'a', result: {} });
    await Promise.resolve();
    expect(isAnswered).toBe(false);
    gate.written({ jsonrpc: '2.0', id: 'a', result: {} });
    await answered;
    expect(isAnswered).toBe(true);
  });
});
