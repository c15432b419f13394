import { Lab, call, respond, say } from './lab.mjs';

export const PARALLEL = { parallelToolCalls: true, maxParallelToolCalls: 2 };

const text = (delta) => ({ type: 'text_delta', delta });
const thinking = (delta) => ({ type: 'thinking_delta', delta });
const bare = { tools: false };

async function played(lab, ...tasks) {
  for (const task of tasks.length === 0 ? ['go'] : tasks) await lab.run(task);
  return lab;
}

export const turnsAndTools = {
  plain_turn: () => played(new Lab([say('hello')], bare), 'hi'),
  plain_two_runs: () => played(new Lab([say('one'), say('two')], bare), 'first', 'second'),
  streamed_turn: () => played(new Lab([[thinking('hm'), text('he'), text('y'), say('hey')]], bare), 'hi'),
  empty_response: () => played(new Lab([say('')], bare)),
  model_error: () => played(new Lab([new Error('provider down')], bare)),
  stream_without_completion: () => played(new Lab([[text('half')]], bare)),
  start_failure: () => {
    const lab = new Lab([say('x')], bare);
    lab.model.start = async () => {
      throw new Error('no key');
    };
    return played(lab);
  },

  tool_call: () => played(new Lab([say('let me look', call('c1', 'write', { x: 1 })), say('done')])),
  tool_error: () => played(new Lab([say(null, call('c1', 'boom')), say('saw it')])),
  tool_bad_inputs: () =>
    played(
      new Lab([
        say(null, call('c1', 'nope'), call('c2', 'write', '{bad'), call('c3', 'write', '[1]'), call('c4', 'write', '')),
        say('ok'),
      ]),
    ),
  two_tools_sequential_default: () =>
    played(new Lab([say(null, call('c1', 'read_a'), call('c2', 'read_b')), say('ok')])),
  two_read_only_parallel: () =>
    played(new Lab([say(null, call('c1', 'read_a'), call('c2', 'read_b')), say('ok')], { policy: PARALLEL })),
  mixed_batch_barriers: () =>
    played(
      new Lab(
        [
          say(
            null,
            ...['read_a', 'read_b', 'read_b', 'write', 'read_b'].map((name, at) =>
              call(`c${at + 1}`, name, { i: at + 1 }),
            ),
          ),
          say('ok'),
        ],
        { policy: PARALLEL },
      ),
    ),
  parallel_with_error: () =>
    played(
      new Lab([say(null, call('c1', 'nope'), call('c2', 'read_b'), call('c3', 'read_a')), say('ok')], {
        policy: PARALLEL,
      }),
    ),
  tool_progress: () => played(new Lab([say(null, call('c1', 'report')), say('ok')])),
  tool_complete: () => played(new Lab([say('bye', call('c1', 'finish'))])),
  tool_complete_first_of_three: () =>
    played(
      new Lab([say(null, call('c1', 'finish'), call('c2', 'write'), call('c3', 'read_a')), say('second run')]),
      'go',
      'again',
    ),
  tool_reject_first_of_two: () => played(new Lab([say(null, call('c1', 'refuse'), call('c2', 'write'))])),
  tool_cancel_first_of_two: () => played(new Lab([say(null, call('c1', 'giveup'), call('c2', 'write'))])),
  terminal_in_read_batch_then_write: () =>
    played(
      new Lab(
        [
          say(null, call('c1', 'read_end'), call('c2', 'read_b'), call('c3', 'read_b', { k: 1 }), call('c4', 'write')),
          say('second run'),
        ],
        { policy: PARALLEL },
      ),
      'go',
      'again',
    ),
  repeated_tool_call: () => played(new Lab([1, 2, 3, 4].map((at) => say(null, call(`c${at}`, 'write', { x: 1 }))))),
  repeated_inside_one_message: () =>
    played(
      new Lab([
        say(null, call('c1', 'write', { y: 9 }), ...['c2', 'c3', 'c4'].map((id) => call(id, 'write', { x: 1 }))),
        say('second run'),
      ]),
      'go',
      'again',
    ),
  repeated_key_order: () =>
    played(
      new Lab(
        ['{"a":1,"b":2}', '{"b":2,"a":1}', '{ "a" : 1, "b" : 2 }'].map((args, at) =>
          say(null, call(`c${at + 1}`, 'write', args)),
        ),
      ),
    ),

  max_steps: () =>
    played(
      new Lab(
        [0, 1, 2, 3, 4].map((i) => say(null, call(`c${i}`, 'write', { i }))),
        { policy: { maxSteps: 3 } },
      ),
    ),
  token_budget_exceeded: () =>
    played(
      new Lab(
        [0, 1, 2, 3, 4].map((i) => respond(null, [call(`c${i}`, 'write', { i })], 60)),
        { policy: { budget: { maxTotalTokens: 100 } } },
      ),
    ),
  token_budget_text_over_limit: () =>
    played(new Lab([respond('long answer', [], 500)], { policy: { budget: { maxTotalTokens: 100 } } })),
  usage_unavailable: () =>
    played(
      new Lab([respond(null, [call('c1', 'write')], null), say('x')], { policy: { budget: { maxTotalTokens: 100 } } }),
    ),
  explicit_finish_ignored: async () => {
    const lab = new Lab(
      ['a', 'b', 'c', 'd'].map((answer) => say(answer)),
      { policy: { requireExplicitFinish: true } },
    );
    await lab.run();
    lab.notes.sent = lab.sentShort();
    return lab;
  },
  explicit_finish_ok: () =>
    played(new Lab([say('a'), say(null, call('c1', 'finish'))], { policy: { requireExplicitFinish: true } })),

  duplicate_call_ids: () =>
    played(new Lab([say(null, call('c1', 'write', { i: 1 }), call('c1', 'write', { i: 2 })), say('ok')])),
  sink_throws: () => {
    const lab = new Lab([say('fine')], bare);
    for (const kind of ['agent_started', 'message_completed', 'agent_finished']) {
      lab.log.on[kind] = async () => {
        throw new Error('disk full');
      };
    }
    return played(lab);
  },
};
