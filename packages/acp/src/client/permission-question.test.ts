import { parsePermissionQuestion } from './permission-question.js';

const TOOL_CALL = { toolCallId: 'call-1', title: 'Write a file' };
const request = (more: object): object => ({ sessionId: 's', toolCall: TOOL_CALL, options: [], ...more });

describe('a question of a child', () => {
  it('has what a person needs to decide', () => {
    const toolCall = { ...TOOL_CALL, name: 'write', kind: 'edit', rawInput: { path: 'a' }, status: 'pending' };
    const options = [{ optionId: 'a', name: 'Yes', kind: 'allow_once' }];
    expect(parsePermissionQuestion(request({ toolCall, options }))).toEqual({
      sessionId: 's',
      callId: 'call-1',
      title: 'Write a file',
      tool: 'write',
      toolKind: 'edit',
      rawInput: { path: 'a' },
      options: [{ id: 'a', name: 'Yes', kind: 'allow_once' }],
    });
  });

  it('needs no more than the protocol wants', () => {
    expect(parsePermissionQuestion(request({}))).toMatchObject({ tool: undefined, toolKind: undefined, options: [] });
    expect(parsePermissionQuestion(request({ toolCall: { toolCallId: 'call-1' } }))).toMatchObject({ title: 'call-1' });
  });

  it('may have options of a kind that is not known, and details of a wrong type', () => {
    const toolCall = { ...TOOL_CALL, title: 7, kind: {}, name: null };
    const options = [{ optionId: 'a', name: 'For an hour', kind: 'allow_for_an_hour' }, { optionId: 'b' }];
    expect(parsePermissionQuestion(request({ toolCall, options }))).toMatchObject({
      title: 'call-1',
      options: [
        { id: 'a', kind: undefined },
        { id: 'b', name: '', kind: undefined },
      ],
    });
  });

  it.each([undefined, {}, { sessionId: 's' }, request({ options: [{}] }), request({ toolCall: {} })])(
    'is none if it does not say what it is about: %j',
    (params) => {
      expect(() => parsePermissionQuestion(params)).toThrow();
    },
  );
});
