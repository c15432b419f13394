import { request } from 'node:http';
import { createInterface } from 'node:readline';

/** Opens one stream and reads its events to the end. @returns the `result` of each event, in the order of arrival. */
export function readStream({ url, body, signal }) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', 'a2a-version': '1.0' };
    const call = request(url, { method: 'POST', headers, agent: false, signal }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`));
      const events = [];
      const lines = createInterface({ input: response });
      lines.on('line', (line) => {
        if (line.startsWith('data:')) events.push(JSON.parse(line.slice(5)).result);
      });
      lines.once('close', () => resolve(events));
      response.once('error', reject);
    });
    call.once('error', reject);
    call.end(body);
  });
}

/** @returns what is wrong with the events of one stream; undefined: nothing. */
export function faultOf(events, wanted) {
  if (events.length !== wanted) return `${events.length} events, not ${wanted}`;
  const kinds = events.map((event) => Object.keys(event)[0]);
  if (kinds[0] !== 'task') return `it begins with ${kinds[0]}`;
  if (events[1].statusUpdate?.status.state !== 'TASK_STATE_WORKING') return 'the second event is not "working"';
  if (events.at(-1).statusUpdate?.status.state !== 'TASK_STATE_COMPLETED') return 'it does not end completed';
  const { id } = events[0].task;
  for (const [at, event] of events.slice(2, -1).entries()) {
    if (event.artifactUpdate?.taskId !== id) return `event ${at + 2} is of another task`;
    if (event.artifactUpdate.artifact.parts[0].text !== String(at)) return `event ${at + 2} is out of order`;
  }
  return undefined;
}
