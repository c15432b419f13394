import { Role, type Message } from '@a2a-js/sdk';
import { ExtensionSupportRequiredError } from '@a2a-js/sdk/errors';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { agree, keeperFixture, refusal, type Agreed } from '../../../test-support/keeper-fixture.js';
import { AGREEMENT_EXTENSION, AGREEMENT_PROOF_HEADER, agreementExtension } from './agreement-extension.js';
import { createAgreementGate } from './create-agreement-gate.js';

let messages = 0;

function messageOf(metadata: object | undefined, messageId?: string): Message {
  messages += 1;
  return {
    messageId: messageId ?? `m-${String(messages)}`,
    contextId: 'c',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [],
    metadata: metadata === undefined ? undefined : { [AGREEMENT_EXTENSION]: metadata },
    extensions: [],
    referenceTaskIds: [],
  };
}

function callWith(
  proof: string | string[] | undefined,
  extensions: string[] = [AGREEMENT_EXTENSION],
): ServerCallContext {
  const headers = proof === undefined ? {} : { [AGREEMENT_PROOF_HEADER]: proof };
  return new ServerCallContext({ requestedExtensions: extensions, state: new Map([['headers', headers]]) });
}

const named = ({ id, agreement }: Agreed, more: object = {}): object => ({
  agreement_id: id,
  terms_digest: agreement.terms_digest,
  ...more,
});

function setting(required = false) {
  const fixture = keeperFixture();
  return { ...fixture, gate: createAgreementGate({ keeper: fixture.keeper, required }) };
}

describe('a message under an agreement', () => {
  it('is worked on with what was agreed, and answered in the words of the extension', async () => {
    const { keeper, gate } = setting();
    const agreed = await agree(keeper, { parameters: { language: 'ru' }, limits: { max_calls: 3 } });
    const call = callWith(agreed.proof);
    const work = await gate.admit(messageOf(named(agreed, { parameters: { language: 'ru' } })), call);
    const applied = { language: 'ru', depth: 3 };
    expect(work).toMatchObject({
      agreement: { agreementId: agreed.id, termsDigest: agreed.agreement.terms_digest },
      capability: 'code_review',
      parameters: applied,
      answerMetadata: { applied, terms_digest: agreed.agreement.terms_digest, remaining: { calls: 2 } },
    });
    expect(call.activatedExtensions).toEqual([AGREEMENT_EXTENSION]);
  });

  it('counts once for each message id, however often it is sent', async () => {
    const { keeper, gate } = setting();
    const agreed = await agree(keeper, { limits: { max_calls: 2, max_concurrent_calls: 1 } });
    const admit = (id: string) => gate.admit(messageOf(named(agreed), id), callWith(agreed.proof));
    const first = await admit('same');
    expect((await admit('same'))?.answerMetadata['remaining']).toEqual({ calls: 1 });
    expect(await refusal(admit('other'))).toEqual({ code: 'agreement_limit', reason: 'too_many_requests' });
    await first?.release();
    await first?.release();
    const last = await admit('other');
    expect(last?.answerMetadata['remaining']).toEqual({ calls: 0 });
    expect((await keeper.get(agreed.id, agreed)).calls_used).toBe(2);
  });

  it('confirms a pending agreement', async () => {
    const { keeper, gate } = setting();
    const agreed = await agree(keeper, { pending: true });
    await gate.admit(messageOf(named(agreed)), callWith(agreed.proof));
    expect((await keeper.get(agreed.id, agreed)).state).toBe('active');
  });

  it('names the capability when several were agreed', async () => {
    const { keeper, gate } = setting();
    const agreed = await agree(keeper, { capabilities: ['code_review', 'translate'] });
    await expect(gate.admit(messageOf(named(agreed)), callWith(agreed.proof))).rejects.toMatchObject({
      code: 'agreement_scope',
      errors: [{ path: 'capability', message: 'must be named: several were agreed' }],
    });
    const work = await gate.admit(messageOf(named(agreed, { capability: 'translate' })), callWith(agreed.proof));
    expect(work).toMatchObject({ capability: 'translate', parameters: {} });
  });

  it('is checked in order: party, state, digest, capability, parameters, limit', async () => {
    const { keeper, gate } = setting();
    const agreed = await agree(keeper, { limits: { max_calls: 1, max_concurrent_calls: 1 } });
    await gate.admit(messageOf(named(agreed)), callWith(agreed.proof));
    const wrong = { terms_digest: `sha256:${'x'.repeat(43)}`, capability: 'translate', parameters: { language: 'de' } };
    const ask = (over: object, proof: string | undefined = agreed.proof) =>
      refusal(gate.admit(messageOf(named(agreed, over)), callWith(proof)));
    expect(await ask(wrong, 'not it')).toEqual({ code: 'agreement_unknown', reason: 'not_found' });
    expect(await ask({ ...wrong, agreement_id: 'nobody' })).toEqual({ code: 'agreement_unknown', reason: 'not_found' });
    expect(await ask(wrong)).toEqual({ code: 'agreement_terms_mismatch', reason: 'conflict' });
    expect(await ask({ ...wrong, terms_digest: agreed.agreement.terms_digest })).toEqual({
      code: 'agreement_scope',
      reason: 'forbidden',
    });
    const onlyParameters = { parameters: { language: 'de' } };
    expect(await ask(onlyParameters)).toEqual({ code: 'agreement_scope', reason: 'forbidden' });
    expect(await ask({})).toEqual({ code: 'agreement_limit', reason: 'too_many_requests' });
    await keeper.suspendFor('agent_A');
    expect(await ask(wrong)).toEqual({ code: 'agreement_suspended', reason: 'unavailable' });
    await keeper.end(agreed.id, { proof: agreed.proof, reason: 'completed' });
    await expect(gate.admit(messageOf(named(agreed, wrong)), callWith(agreed.proof))).rejects.toMatchObject({
      code: 'agreement_ended',
      errors: [{ path: 'agreement_id', message: 'completed' }],
    });
  });

  it('shows its secret in one header, and nowhere else', async () => {
    const { keeper, gate } = setting();
    const agreed = await agree(keeper);
    const admit = (proof: string | string[] | undefined) => gate.admit(messageOf(named(agreed)), callWith(proof));
    expect(await refusal(admit(undefined))).toMatchObject({ code: 'agreement_unknown' });
    expect(await refusal(admit([agreed.proof, 'another']))).toMatchObject({ code: 'agreement_unknown' });
    expect(await admit([agreed.proof])).toMatchObject({ capability: 'code_review' });
    const inMessage = gate.admit(messageOf(named(agreed, { proof: agreed.proof })), callWith(undefined));
    await expect(inMessage).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  it.each([
    ['a text', 'agreement'],
    ['nothing in it', {}],
    ['a number for an id', { agreement_id: 7, terms_digest: `sha256:${'x'.repeat(43)}` }],
    ['a digest of another kind', { agreement_id: 'a', terms_digest: 'md5' }],
    [
      'parameters that are none',
      { agreement_id: 'a', terms_digest: `sha256:${'x'.repeat(43)}`, parameters: { a: {} } },
    ],
  ])('is refused by the path of what is wrong: %s', async (_name, metadata) => {
    const { gate } = setting();
    await expect(gate.admit(messageOf(metadata as object), callWith('p'))).rejects.toMatchObject({
      reason: 'invalid_request',
      errors: expect.arrayContaining([
        {
          path: expect.stringContaining('message.metadata["urn:parley:agreement:v1"]') as string,
          message: expect.any(String) as string,
        },
      ]) as object[],
    });
  });
});

describe('a message without an agreement', () => {
  it('is nothing to the gate, unless one is required', async () => {
    const call = callWith(undefined, []);
    expect(await setting().gate.admit(messageOf(undefined), call)).toBeUndefined();
    expect(call.activatedExtensions).toBeUndefined();
    await expect(setting(true).gate.admit(messageOf(undefined), call)).rejects.toBeInstanceOf(
      ExtensionSupportRequiredError,
    );
  });

  it('is not what a message is that names one and does not ask for the extension', async () => {
    const { keeper, gate } = setting();
    const agreed = await agree(keeper);
    const admit = gate.admit(messageOf(named(agreed)), callWith(agreed.proof, []));
    await expect(admit).rejects.toBeInstanceOf(ExtensionSupportRequiredError);
    expect((await keeper.get(agreed.id, agreed)).calls_used).toBe(0);
  });
});

it('a card says what can be agreed on', () => {
  const { capabilities } = keeperFixture();
  const extension = agreementExtension({ capabilities, required: true });
  expect(extension).toMatchObject({
    uri: 'urn:parley:agreement:v1',
    required: true,
    params: {
      capabilities: {
        code_review: { version: '1.2.0', parameters: { language: { type: 'string', enum: ['en', 'ru', 'de'] } } },
        translate: { parameters: {} },
      },
    },
  });
  expect(JSON.parse(JSON.stringify(extension.params))).toEqual(extension.params);
});
