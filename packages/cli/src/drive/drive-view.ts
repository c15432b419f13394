import type { AgentEvent, AgentEventSink } from '@parley/harness';
import type { DriveEvent, PlayedTurn } from '@parley/proxy-protocol';
import type { CliIo } from '../cli-io.js';
import { OutputWriter } from '../print/output-writer.js';
import { neutralise, neutraliseLine, safeJson } from '../ui/neutralise.js';
import { counted, duration } from '../ui/numbers.js';
import { choosePaint, type Paint, type Tone } from '../ui/style.js';
import type { FoundEvent } from './found/drive-found.js';

const MAX_LINE = 160;
const ID_LENGTH = 8;

/** Shows what happens while a proxy is played: a line for each turn, call and end, or lines of JSON. */
export class DriveView {
  readonly #out: OutputWriter;
  readonly #err: OutputWriter;
  readonly #paint: Paint;
  readonly #isJson: boolean;

  constructor(io: CliIo, { isJson, onLostReader }: { readonly isJson: boolean; readonly onLostReader: () => void }) {
    this.#out = new OutputWriter(io.stdout, onLostReader);
    this.#err = new OutputWriter(io.stderr);
    this.#paint = choosePaint(io.stderr.isTTY === true, io.env);
    this.#isJson = isJson;
  }

  /** A line for people. */
  async say(text: string, tone: Tone = 'dim'): Promise<void> {
    await this.#err.write(`${this.#paint(short(text), tone)}\n`);
  }

  onDrive(event: DriveEvent): void {
    void this.#drive(event);
  }

  onFound(event: FoundEvent): void {
    void this.#found(event);
  }

  sinkFor(played: PlayedTurn): AgentEventSink {
    return { emit: (event) => this.#agent(played, event) };
  }

  async #drive(event: DriveEvent): Promise<void> {
    switch (event.kind) {
      case 'claimed':
        if (event.isAgain) await this.say('the proxy had forgotten its claim: claimed again', 'warn');
        return this.#json({ kind: 'claimed', again: event.isAgain });
      case 'away':
        await this.say(`${event.error.message}: waiting for it`, 'warn');
        return this.#json({ kind: 'away', error: event.error.message });
      case 'back':
        await this.say('the proxy is back');
        return this.#json({ kind: 'back' });
      case 'turn_started': {
        const { taskId, contextId, texts } = event.turn.turn;
        await this.say(`turn ${id(event.turn)}: ${texts.join(' ')}`, 'bold');
        return this.#json({ kind: 'turn_started', task_id: taskId, context_id: contextId, texts });
      }
      case 'turn_ended':
        return this.#ended(event);
    }
  }

  async #found(event: FoundEvent): Promise<void> {
    if (event.kind === 'searching') {
      const { failure, waitMs } = event;
      await this.say(`${failure.message}; again in ${duration(waitMs)}`, 'warn');
      return this.#json({ kind: 'searching', code: failure.code, error: failure.message, wait_ms: Math.round(waitMs) });
    }
    const { agentId, url, agreementId } = event.agreed;
    const about = { proxy: agentId, url, agreement_id: agreementId };
    if (event.kind === 'agreed') {
      await this.say(`playing ${agentId} at ${url} under agreement ${agreementId}`);
      return this.#json({ kind: 'agreed', ...about });
    }
    await this.say(
      `${agentId} is lost, and turns that are open there wait for its next driver: ${event.reason}`,
      'warn',
    );
    return this.#json({ kind: 'lost', ...about, reason: event.reason });
  }

  async #ended({ turn, outcome }: DriveEvent & { readonly kind: 'turn_ended' }): Promise<void> {
    const about = `turn ${id(turn)}`;
    if (outcome.how === 'answered') await this.say(`${about}: answered`, 'good');
    if (outcome.how === 'failed') await this.say(`${about}: failed: ${outcome.error}`, 'bad');
    if (outcome.how === 'gone') await this.say(`${about}: over before it was answered: ${outcome.reason}`, 'warn');
    if (outcome.how === 'left') await this.say(`${about}: left open`, 'warn');
    await this.#json({ kind: 'turn_ended', task_id: turn.turn.taskId, ...outcome });
  }

  async #agent(played: PlayedTurn, { payload }: AgentEvent): Promise<void> {
    const { taskId } = played.turn;
    switch (payload.kind) {
      case 'message_completed': {
        const { content, toolCalls } = payload.message;
        return this.#json({ kind: 'model_call', task_id: taskId, text: content, calls: toolCalls });
      }
      case 'tool_started':
        return this.say(`  ${id(played)} ${payload.toolCall.name} ${payload.toolCall.arguments}`);
      case 'tool_progressed':
        return this.say(`  ${id(played)} ${payload.toolCall.name}: ${payload.update.message}`);
      case 'tool_completed': {
        const { message, error } = payload.result;
        if (error !== null) await this.say(`  ${id(played)} ${payload.toolCall.name} failed: ${error}`, 'bad');
        return this.#json({ kind: 'action', task_id: taskId, call: payload.toolCall, text: message.content, error });
      }
      case 'agent_finished':
        if (payload.result.output === null || this.#isJson) return undefined;
        return this.#out.write(`${neutralise(payload.result.output)}\n`);
      default:
        return undefined;
    }
  }

  async #json(event: object): Promise<void> {
    if (this.#isJson) await this.#out.write(`${safeJson(event)}\n`);
  }
}

export function describeLeft(count: number): string {
  return `${counted(count, 'turn')} left open; the next driver with this token goes on`;
}

function id({ turn }: PlayedTurn): string {
  return neutraliseLine(turn.taskId).slice(0, ID_LENGTH);
}

function short(text: string): string {
  const indent = /^ */u.exec(text)?.[0] ?? '';
  const line = neutraliseLine(text);
  return `${indent}${line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE)}…`}`;
}
