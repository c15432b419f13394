import { collect, taskFrom } from './checks/check.js';
import { voiceFor, WIRES } from './support/all-voices.js';
import { expectRefusal } from './support/refusals.js';
import { startTestAgent, type TestAgent } from './support/test-agent.js';
import type { Voice } from './support/voice.js';

const EXTENSION = 'urn:parley:conformance:echo:v1';

let lean: TestAgent;
let strict: TestAgent;

beforeAll(async () => {
  lean = await startTestAgent(['--no-streaming', '--no-push', '--no-extended-card']);
  strict = await startTestAgent(['--require-extension', '--forget-extended-card']);
}, 60_000);

afterAll(() => Promise.all([lean.stop(), strict.stop()]));

describe.each(WIRES)('over $binding $version', (wire) => {
  let voice: Voice;
  let strictVoice: Voice;

  beforeAll(() => {
    voice = voiceFor(wire, lean);
    strictVoice = voiceFor(wire, strict);
  });

  afterAll(() => {
    voice.close();
    strictVoice.close();
  });

  it('an agent without streams refuses to stream and to subscribe', async () => {
    await expectRefusal(voice, 'UNSUPPORTED_OPERATION', collect(voice.stream({ scenario: 'tck-stream-003' })));
    const { id } = await taskFrom(voice, 'tck-input-required');
    await expectRefusal(voice, 'UNSUPPORTED_OPERATION', collect(voice.subscribe(id)));
  });

  it('an agent that does not notify refuses to', async () => {
    const { id } = await taskFrom(voice, 'tck-input-required');
    const url = 'http://127.0.0.1:9/hook';
    await expectRefusal(voice, 'PUSH_NOTIFICATION_NOT_SUPPORTED', voice.createPush(id, { id: 'one', url }));
    await expectRefusal(voice, 'PUSH_NOTIFICATION_NOT_SUPPORTED', voice.getPush(id, 'one'));
    await expectRefusal(voice, 'PUSH_NOTIFICATION_NOT_SUPPORTED', voice.listPush(id));
    await expectRefusal(voice, 'PUSH_NOTIFICATION_NOT_SUPPORTED', voice.deletePush(id, 'one'));
  });

  it('an agent without an extended card says so', async () => {
    await expectRefusal(voice, 'UNSUPPORTED_OPERATION', voice.extendedCard());
    await expectRefusal(strictVoice, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED', strictVoice.extendedCard());
  });

  it('an agent that requires an extension refuses whoever does not use it', async () => {
    await expectRefusal(strictVoice, 'EXTENSION_SUPPORT_REQUIRED', strictVoice.send({ scenario: 'tck-complete-task' }));
    const stream = strictVoice.stream({ scenario: 'tck-stream-003' });
    await expectRefusal(strictVoice, 'EXTENSION_SUPPORT_REQUIRED', collect(stream));
    expect(await strictVoice.activated({ scenario: 'tck-complete-task' }, EXTENSION)).toBe(EXTENSION);
  });
});
