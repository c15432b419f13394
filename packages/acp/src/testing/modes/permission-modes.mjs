// Agents that ask for permission. Each says afterwards what the outcome was.
const END = { answer: 'end_turn' };
const ALL = ['allow_once', 'allow_always', 'reject_once', 'reject_always'];
const asks = (...kinds) => ({ prompts: [[{ ask: kinds }, { say: 'outcomes' }, END]] });
const gets = (...outcomes) => ({ stopReason: 'completed', output: JSON.stringify(outcomes) });
const allow = { permission: 'allow' };
const always = { permission: 'allow-always' };

/** @type {readonly import('./mock-mode.mjs').MockMode[]} */
export const PERMISSION_MODES = [
  { name: 'rejected by default', script: asks(...ALL), expect: gets('reject_once-2') },
  { name: 'rejected', script: asks(...ALL), options: { permission: 'reject' }, expect: gets('reject_once-2') },
  {
    name: 'rejected, only reject_always',
    script: asks('allow_once', 'reject_always'),
    expect: gets('reject_always-1'),
  },
  { name: 'rejected, only allowing options', script: asks('allow_once', 'allow_always'), expect: gets('cancelled') },
  { name: 'rejected, no options', script: asks(), expect: gets('cancelled') },
  {
    name: 'rejected, two ways to reject once, one to reject always',
    script: asks('reject_once', 'reject_once', 'reject_always'),
    expect: gets('cancelled'),
  },
  { name: 'rejected, two ways to reject once', script: asks('reject_once', 'reject_once'), expect: gets('cancelled') },
  { name: 'allowed', script: asks(...ALL), options: allow, expect: gets('allow_once-0') },
  { name: 'allowed, one option', script: asks('allow_once'), options: allow, expect: gets('allow_once-0') },
  {
    name: 'allowed, only allow_always',
    script: asks('allow_always', 'reject_once'),
    options: allow,
    expect: gets('reject_once-1'),
  },
  {
    name: 'allowed, two ways to allow once',
    script: asks('allow_once', 'allow_once', 'reject_once'),
    options: allow,
    expect: gets('reject_once-2'),
  },
  {
    name: 'allowed, only rejecting options',
    script: asks('reject_once'),
    options: allow,
    expect: gets('reject_once-0'),
  },
  { name: 'allowed always', script: asks(...ALL), options: always, expect: gets('allow_always-1') },
  {
    name: 'allowed always, only allow_once',
    script: asks('reject_once', 'allow_once'),
    options: always,
    expect: gets('allow_once-1'),
  },
  {
    name: 'options of unknown kind',
    script: asks('allow_for_an_hour', 'reject_once'),
    options: allow,
    expect: gets('reject_once-1'),
  },
  {
    name: 'permission for an unknown session',
    script: { prompts: [[{ ask: ALL, sessionId: 'of-a-background-child' }, { say: 'outcomes' }, END]] },
    options: allow,
    expect: { stopReason: 'completed', outputPattern: '^\\["(reject_once-2|cancelled)"\\]$' },
  },
  {
    name: 'permission before session/new is answered',
    script: { newSession: [{ ask: ALL }, { result: {} }], prompts: [[{ say: 'outcomes' }, END]] },
    options: allow,
    expect: { stopReason: 'completed', outputPattern: '^\\["(reject_once-2|cancelled)"\\]$' },
  },
  {
    name: 'many permissions at once',
    script: {
      prompts: [
        [
          { together: [{ repeat: 20, steps: [{ aside: [{ ask: ALL }] }] }] },
          { ask: ALL },
          { wait: 50 },
          { say: 'outcomes' },
          END,
        ],
      ],
    },
    options: allow,
    expect: gets(...Array.from({ length: 21 }, () => 'allow_once-0')),
  },
  {
    name: 'permission that is asked for with the answer',
    script: { prompts: [[{ together: [{ aside: [{ ask: ALL }] }, { text: 'done' }, END] }]] },
    expect: { stopReason: 'completed', output: 'done' },
  },
];
