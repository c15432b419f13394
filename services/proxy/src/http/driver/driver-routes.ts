import type { ProxyEngine } from '../../engine/index.js';
import type { ProxyRoute } from '../routes.js';
import { wireActionAnswer, wireTool, wireTurn } from './driver-answers.js';
import {
  actRequest,
  cancelRequest,
  claimRequest,
  nextRequest,
  recordRequest,
  replyEnd,
  replyRequest,
  resultRequest,
  toolsRequest,
} from './driver-requests.js';

type Handle = ProxyRoute['handle'];

/** What the driver calls. */
export function driverRoutes(engine: ProxyEngine): readonly ProxyRoute[] {
  const operation = (name: string, summary: string, handle: Handle): ProxyRoute => ({
    method: 'POST',
    path: `/ext/proxy/${name}`,
    summary,
    handle,
  });
  return [
    operation('claim', 'Makes the proxy the driver’s that shows this token.', async ({ fields }) => {
      await engine.claim(claimRequest(fields).token);
      return {};
    }),
    operation('next', 'The open turns, once they have changed.', async ({ fields, signal }) => {
      const { token, after = 0 } = nextRequest(fields);
      const { version, turns } = await engine.next({ token, after, signal });
      return { version, turns: turns.map(wireTurn) };
    }),
    operation('tools', 'The tools of a turn.', async ({ fields, signal }) => {
      const { token, task_id: taskId } = toolsRequest(fields);
      return { tools: (await engine.tools({ token, taskId, signal })).map(wireTool) };
    }),
    operation('act', 'Runs an action, or finds the one with this id.', async ({ fields, signal }) => {
      const { token, task_id: taskId, action_id: actionId, action } = actRequest(fields);
      return wireActionAnswer(await engine.act({ token, taskId, actionId, action, signal }));
    }),
    operation('result', 'The result of an action, or its output so far.', async ({ fields, signal }) => {
      const { token, action_id: actionId, after } = resultRequest(fields);
      return wireActionAnswer(
        await engine.result({ token, actionId, ...(typeof after === 'number' && { after }), signal }),
      );
    }),
    operation('cancel', 'Ends one action.', async ({ fields, signal }) => {
      const { token, action_id: actionId } = cancelRequest(fields);
      return wireActionAnswer(await engine.cancelAction({ token, actionId, signal }));
    }),
    operation('record', 'Records a call of the driver’s model.', async ({ fields, signal }) => {
      const { token, task_id: taskId, message, model = null, usage = null } = recordRequest(fields);
      await engine.record({ token, taskId, message, model, usage, signal });
      return {};
    }),
    operation('reply', 'Ends a turn.', async ({ fields }) => {
      const { token, task_id: taskId, parts, error } = replyRequest(fields);
      await engine.reply({ token, taskId, ...replyEnd(parts, error) });
      return {};
    }),
  ];
}
