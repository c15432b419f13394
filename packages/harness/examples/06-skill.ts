// A folder of skills: the model sees what there is, and gets the whole text of the one that a task names.
import { join } from 'node:path';
import { Agent, say, ScriptedModel } from '@parley/harness';

const model = new ScriptedModel([say('## 1.1.0\n\n- Faster start.')]);
const agent = new Agent(model, { skillsDir: join(import.meta.dirname, 'skills') });

const result = await agent.run('Use $release_notes for: the start got faster, version 1.1.0.');
const sent = model.requests[0]?.messages.filter(({ role }) => role === 'system') ?? [];
console.log(sent.some(({ content }) => content?.includes('One line for each change'))); // true
console.log(agent.messages.some(({ content }) => content?.includes('One line for each change'))); // false
console.log(result.output);
await agent.shutdown();
