import { type AgentEvent, messageOf } from '@parley/harness';
import type { ApprovalAnswer, ApprovalRequest } from '../agent/approvals.js';
import type { OpenSession, Sessions } from '../sessions/sessions.js';
import { type Activity, follow, noActivity, withQueued, withWait } from '../ui/activity.js';
import { type Block, gap, text } from '../ui/block.js';
import { edit, type EditorAction, type EditorState, emptyEditor, withRemembered, withText } from '../ui/line-editor.js';
import type { Key } from '../ui/keys.js';
import { neutraliseLine } from '../ui/neutralise.js';
import { renderEvent, renderUserText } from '../ui/render-event.js';
import { renderHistory } from '../ui/render-history.js';
import type { Screen } from '../ui/screen.js';
import { approvalQuestion, renderDecision, renderRequest } from './approval-question.js';
import { Interrupts, SECOND_PRESS_MS } from './interrupts.js';
import type { ShellState } from './live-view.js';
import { type Question, Questions } from './questions.js';
import { type CommandTarget, runCommand } from './run-command.js';
import { completeCommand, parseCommand } from './slash-commands.js';
import { UsageTally } from './usage-tally.js';

export interface ShellOptions {
  readonly screen: Pick<Screen, 'print' | 'update' | 'clear'>;
  readonly sessions: Sessions;
  readonly session: OpenSession;
  readonly facts: CommandTarget['facts'];
  readonly now: () => number;
  /** Gives the terminal to whoever started the program, until it is brought back. */
  readonly suspend: () => void;
  /** The user wants to leave, or has to; called once. */
  readonly onLeave: (exitCode: number) => void;
}

/** How long the screen shows the time passing. */
const TICK_MS = 1_000;

/** What the user's input does to the agent, and what the agent's events do to the screen. */
export class Shell implements CommandTarget {
  readonly #options: ShellOptions;
  readonly #questions: Questions;
  readonly #interrupts = new Interrupts();
  readonly usage = new UsageTally();
  #session: OpenSession;
  #editor: EditorState = emptyEditor;
  #activity: Activity = noActivity;
  #notice: string | undefined;
  #noticeTimer: NodeJS.Timeout | undefined;
  #tickTimer: NodeJS.Timeout | undefined;
  #pending = 0;
  #isAborting = false;
  #isSwitching = false;
  #isLeaving = false;
  #isOver = false;
  #compaction: AbortController | undefined;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#session = options.session;
    this.#questions = new Questions(() => options.screen.update());
  }

  get session(): OpenSession {
    return this.#session;
  }

  get sessions(): Sessions {
    return this.#options.sessions;
  }

  get facts(): CommandTarget['facts'] {
    return this.#options.facts;
  }

  get isBusy(): boolean {
    return this.#pending > 0 || this.#activity.isRunning || this.#isSwitching;
  }

  /** What the live rows show. */
  get state(): ShellState {
    return {
      activity: this.#activity,
      editor: this.#editor,
      question: this.#questions.open,
      notice: this.#notice,
      isAborting: this.#isAborting,
    };
  }

  /** Shows the session it begins with, and starts a first task. */
  begin(task: string | undefined): void {
    this.#introduce();
    if (task !== undefined) this.submit(task);
  }

  /** No timer is left. */
  end(): void {
    clearTimeout(this.#noticeTimer);
    clearInterval(this.#tickTimer);
    this.#isOver = true;
    this.#questions.dismiss();
  }

  print(blocks: readonly Block[]): void {
    this.#options.screen.print(blocks);
  }

  ask<T>(question: Question<T>): Promise<T> {
    return this.#questions.ask(question);
  }

  onEvent(event: AgentEvent): void {
    const now = this.#options.now();
    const { payload } = event;
    this.print(renderEvent(event, this.#activity, now));
    this.#activity = follow(this.#activity, event, now);
    if (payload.kind === 'agent_finished') {
      this.usage.add(payload.result);
      this.#isAborting = false;
    }
    if (payload.kind === 'steering_discarded') this.#editor = withRemembered(this.#editor, payload.control.content);
    this.#tick();
  }

  async askApproval(request: ApprovalRequest): Promise<ApprovalAnswer> {
    const began = this.#options.now();
    this.print(renderRequest(request));
    const answer = await this.#questions.ask(approvalQuestion(request), request.signal);
    this.#activity = withWait(this.#activity, request.callId, this.#options.now() - began);
    this.print(renderDecision(answer));
    return answer;
  }

  onKeys(keys: readonly Key[]): void {
    for (const key of keys) this.#onKey(key);
    this.#options.screen.update();
  }

  /** Ctrl-C, or a signal that means the same. */
  interrupt(): void {
    const canAbort = (this.isBusy && !this.#isAborting) || this.#questions.open !== undefined;
    const meaning = this.#interrupts.press(this.#options.now(), canAbort);
    this.#questions.dismiss();
    if (meaning === 'exit') {
      this.leave();
      return;
    }
    if (meaning === 'abort' && this.isBusy) {
      this.#abort();
      this.#notify('Ctrl-C again leaves');
      return;
    }
    this.#editor = withText(this.#editor, '');
    this.#notify('Ctrl-C again leaves, as do Ctrl-D and /quit');
  }

  leave(exitCode = 0): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#questions.dismiss();
    this.#notify('leaving');
    this.#options.onLeave(exitCode);
  }

  /** A line that was entered: a command, a task, or steering for what runs. */
  submit(input: string): void {
    if (input.trim() === '' || this.#isLeaving) return;
    const command = parseCommand(input);
    if (command === 'unknown') {
      const advice = '/help lists the commands; a blank before the slash makes it a task';
      this.print([gap, text(`no such command: ${neutraliseLine(input)}`, 'warn'), text(advice, 'dim')]);
      return;
    }
    if (command !== undefined) {
      this.print(renderUserText(input));
      void runCommand(command, this);
      return;
    }
    if (this.#isSwitching) {
      this.#giveBack(input, 'the session is being changed');
      return;
    }
    if (this.isBusy) {
      this.#steer(input.trim());
      return;
    }
    this.track(this.#session.agent.run(input.trim()));
  }

  track(work: Promise<unknown>): void {
    this.#pending += 1;
    work
      .catch((error: unknown) => this.print([gap, text(neutraliseLine(messageOf(error)), 'bad')]))
      .finally(() => {
        this.#pending -= 1;
        if (!this.isBusy) this.#isAborting = false;
        this.#tick();
      });
    this.#tick();
  }

  async compact(): Promise<void> {
    const compaction = new AbortController();
    this.#compaction = compaction;
    try {
      await this.#session.agent.compact({ signal: compaction.signal });
    } finally {
      this.#compaction = undefined;
    }
  }

  async switchTo(open: () => Promise<OpenSession>): Promise<void> {
    this.#isSwitching = true;
    try {
      const next = await open();
      const previous = this.#session;
      this.#session = next;
      this.#activity = noActivity;
      this.#introduce();
      await previous.agent.shutdown();
    } finally {
      this.#isSwitching = false;
      this.#options.screen.update();
    }
  }

  #introduce(): void {
    const { agent, ref, notices } = this.#session;
    const { messages } = agent;
    this.print([
      ...renderHistory(messages),
      gap,
      text(`session ${neutraliseLine(ref)}${messages.length === 0 ? '' : ', resumed'}`, 'dim'),
      ...notices.map((notice) => text(neutraliseLine(notice), 'warn')),
    ]);
    for (const message of messages) {
      if (message.role === 'user') this.#editor = withRemembered(this.#editor, message.content);
    }
  }

  #onKey(key: Key): void {
    const question = this.#questions.open;
    if (question !== undefined) {
      const { state, action } = edit(question.editor, key);
      this.#questions.edit(state);
      if (action?.type === 'submit') this.#questions.answer(action.text);
      else if (action?.type === 'escape' || action?.type === 'end-of-input') this.#questions.dismiss();
      else if (action !== undefined) this.#act(action);
      return;
    }
    const { state, action } = edit(this.#editor, key);
    this.#editor = state;
    if (action !== undefined) this.#act(action);
  }

  #act(action: EditorAction): void {
    switch (action.type) {
      case 'submit': {
        this.submit(action.text);
        return;
      }
      case 'complete':
        this.#editor = withText(this.#editor, completeCommand(this.#editor.text));
        return;
      case 'escape':
        if (this.isBusy && !this.#isAborting) this.#abort();
        return;
      case 'interrupt': {
        this.interrupt();
        return;
      }
      case 'end-of-input': {
        this.leave();
        return;
      }
      case 'clear-screen': {
        this.#options.screen.clear();
        return;
      }
      case 'suspend': {
        this.#options.suspend();
        return;
      }
    }
  }

  #abort(): void {
    const wasRunning = this.#session.agent.abort('interrupted by the user');
    this.#compaction?.abort();
    this.#isAborting = wasRunning || this.#compaction !== undefined;
  }

  #steer(content: string): void {
    const { status, inputId } = this.#session.agent.steer(content);
    if (status === 'accepted' && inputId !== null) {
      this.#activity = withQueued(this.#activity, inputId, content);
      return;
    }
    // Nothing that could be steered, but something the run has to wait for, such as a compaction.
    if (status === 'agent_idle') {
      this.track(this.#session.agent.run(content));
      return;
    }
    this.#giveBack(content, status === 'queue_full' ? 'too many texts are queued' : 'the run is ending');
  }

  /** A text that could not be used goes back to where it was written. */
  #giveBack(content: string, why: string): void {
    this.#editor = withText(this.#editor, content);
    this.#notify(`${why}: press Enter again in a moment`);
  }

  #notify(notice: string): void {
    this.#notice = notice;
    clearTimeout(this.#noticeTimer);
    this.#noticeTimer = setTimeout(() => {
      this.#notice = undefined;
      this.#options.screen.update();
    }, SECOND_PRESS_MS);
    this.#options.screen.update();
  }

  /** The live rows show how long things take: they are drawn every second as long as something runs. */
  #tick(): void {
    this.#options.screen.update();
    if (!this.isBusy || this.#isOver) {
      clearInterval(this.#tickTimer);
      this.#tickTimer = undefined;
      return;
    }
    this.#tickTimer ??= setInterval(() => this.#options.screen.update(), TICK_MS);
  }
}
