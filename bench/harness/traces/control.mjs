import { setTimeout as sleep } from 'node:timers/promises';
import { Lab, call, plain, say } from './lab.mjs';
import { PARALLEL } from './turns-and-tools.mjs';

const slow = (_request, signal) => sleep(30_000, undefined, { signal });

class StopAt {
  seen = [];

  constructor(turn, output) {
    this.turn = turn;
    this.output = output;
  }

  async afterTurn({ turn }) {
    this.seen.push(turn);
    if (turn < this.turn) return undefined;
    return { action: 'stop', ...(this.output === undefined ? {} : { output: this.output }) };
  }
}

const broken = {
  async afterTurn() {
    throw new Error('hook broke');
  },
};

const worked = () => [say('t1', call('c1', 'write')), say('x')];

async function hooked(hook, policy) {
  const lab = new Lab(worked(), { hooks: [hook], ...(policy === undefined ? {} : { policy }) });
  await lab.run();
  return lab;
}

export const cancellation = {
  cancel_during_tool: async () => {
    const lab = new Lab([say(null, call('c1', 'hang'), call('c2', 'write'), call('c3', 'read_a')), say('never')]);
    const running = lab.run();
    await lab.tools.begun.promise;
    lab.notes.abort = lab.agent.abort('stopped by user');
    lab.notes.abort_again = lab.agent.abort('again');
    lab.notes.steer_after_abort = lab.agent.steer('too late').status;
    lab.notes.follow_up_after_abort = lab.agent.followUp('too late').receipt.status;
    await lab.agent.waitForIdle();
    await running;
    return lab;
  },
  cancel_during_parallel: async () => {
    const lab = new Lab(
      [
        say(
          null,
          call('c1', 'read_a', { i: 1 }),
          call('c2', 'read_b', { i: 2 }),
          call('c3', 'read_a', { i: 3 }),
          call('c4', 'write'),
        ),
      ],
      { policy: PARALLEL },
    );
    const running = lab.run();
    await lab.tools.logged('read_b-');
    lab.agent.abort('now');
    await running;
    return lab;
  },
  cancel_stubborn_tool: async () => {
    const lab = new Lab([say(null, call('c1', 'stubborn')), say('never')]);
    const running = lab.run();
    await lab.tools.begun.promise;
    const aborted = performance.now();
    lab.agent.abort('now');
    await running;
    lab.notes.settle_delay_over_50ms = performance.now() - aborted > 50;
    return lab;
  },
  cancel_between_message_and_tools: async () => {
    const lab = new Lab([say(null, call('c1', 'write'), call('c2', 'write', { i: 2 })), say('second run')]);
    lab.log.on.message_completed = async ({ calls }) => {
      if (calls.length > 0) lab.agent.abort('just in between');
    };
    await lab.run();
    await lab.run('again');
    return lab;
  },
  // The caller's own cancellation is a signal here: it takes the way of abort(), and the result comes back.
  task_cancel_during_tool: async () => {
    const lab = new Lab([
      say(null, call('c1', 'write'), call('c2', 'hang'), call('c3', 'write', { i: 3 })),
      say('second run'),
    ]);
    const caller = new AbortController();
    const running = lab.run('go', { signal: caller.signal });
    await lab.tools.begun.promise;
    caller.abort();
    await running;
    await lab.run('again');
    return lab;
  },
  abort_when_idle: async () => {
    const lab = new Lab([say('x')], { tools: false });
    lab.notes.abort = lab.agent.abort('nothing');
    await lab.run();
    return lab;
  },
  cancel_during_model: async () => {
    const begun = Promise.withResolvers();
    const lab = new Lab([(...args) => (begun.resolve(), slow(...args))], { tools: false });
    const running = lab.run();
    await begun.promise;
    lab.agent.abort();
    await running;
    return lab;
  },
  cancel_by_task_cancel: async () => {
    const begun = Promise.withResolvers();
    const caller = new AbortController();
    const lab = new Lab([(...args) => (begun.resolve(), slow(...args))], { tools: false });
    const running = lab.run('go', { signal: caller.signal });
    await begun.promise;
    caller.abort();
    await running;
    lab.notes.status = lab.agent.status;
    return lab;
  },
};

export const hooksAndControl = {
  hook_stop: () => hooked(new StopAt(1, 'paused')),
  hook_stop_beats_max_steps: () => hooked(new StopAt(1), { maxSteps: 1 }),
  hook_throws: () => hooked(broken),
  hook_not_called_on_final_turn: async () => {
    const hook = new StopAt(1);
    const lab = new Lab([say('final')], { hooks: [hook] });
    await lab.run();
    lab.notes.hook_saw = hook.seen;
    return lab;
  },

  steering_during_tool: async () => {
    const lab = new Lab([say(null, call('c1', 'write')), say('done')]);
    lab.log.on.tool_started = async ({ turn }) => {
      if (turn !== 1) return;
      const { status, queueSize } = lab.agent.steer('  be brief  ');
      lab.notes.receipt = [status, queueSize];
    };
    await lab.run();
    return lab;
  },
  steering_during_final_text: async () => {
    const lab = new Lab([() => (lab.agent.steer('one more thing'), say('final?')), say('really final')]);
    await lab.run();
    return lab;
  },
  steering_on_last_step: async () => {
    const lab = new Lab([() => (lab.agent.steer('too late'), say('final?'))], { policy: { maxSteps: 1 } });
    await lab.run();
    return lab;
  },
  steering_queue_limits: async () => {
    const step = () => {
      lab.notes.receipts = [0, 1, 2].map((i) => {
        const { status, queueSize } = lab.agent.steer(`s${i}`);
        return [status, queueSize];
      });
      return say(null, call('c1', 'write'));
    };
    const lab = new Lab([step, say('ok')], { steeringQueueCapacity: 2 });
    lab.notes.idle = lab.agent.steer('x').status;
    try {
      lab.agent.steer('   ');
    } catch (error) {
      lab.notes.blank = error.message;
    }
    await lab.run();
    return lab;
  },
  follow_up_chain: async () => {
    const handles = [];
    const step = () => {
      for (const i of [0, 1]) handles.push(lab.agent.followUp(`next ${i}`));
      lab.notes.handles = handles.map(({ receipt }) => [receipt.status, receipt.queueSize]);
      return say('first done');
    };
    const lab = new Lab([step, say('second'), say('third'), say('direct')]);
    await Promise.all([lab.run('start'), lab.run('direct')]);
    lab.notes.follow_results = (await Promise.all(handles.map((handle) => handle.wait()))).map(plain);
    lab.notes.idle_follow_up = lab.agent.followUp('x').receipt.status;
    return lab;
  },
  follow_up_discarded_after_failure: async () => {
    const handles = [];
    const lab = new Lab([() => (handles.push(lab.agent.followUp('next')), new Error('down')), say('x')]);
    await lab.run();
    lab.notes.wait = await handles[0].wait().catch(({ name, message }) => [name, message]);
    return lab;
  },
  follow_up_continue_policy: async () => {
    const handles = [];
    const lab = new Lab([() => (handles.push(lab.agent.followUp('next')), new Error('down')), say('recovered')], {
      followUpFailurePolicy: 'continue',
    });
    await lab.run();
    lab.notes.wait = plain(await handles[0].wait());
    return lab;
  },
  continue_after_max_steps: async () => {
    const lab = new Lab([say(null, call('c1', 'write')), say('finished')], { policy: { maxSteps: 1 } });
    lab.notes.before_any_run = lab.agent.continueRejectionReason;
    await lab.run();
    await lab.cont();
    return lab;
  },
  continue_after_abort_refused: async () => {
    const begun = Promise.withResolvers();
    const lab = new Lab([(...args) => (begun.resolve(), slow(...args))]);
    const running = lab.run();
    await begun.promise;
    lab.notes.while_active = lab.agent.continueRejectionReason;
    lab.agent.abort();
    await running;
    await lab.cont();
    return lab;
  },
  continue_after_orphan_refused: async () => {
    const lab = new Lab([say(null, call('c1', 'finish'), call('c2', 'write'))]);
    await lab.run();
    await lab.cont();
    return lab;
  },
};
