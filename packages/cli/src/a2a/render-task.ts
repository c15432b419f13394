import type { A2aTask } from '@parley/agent';
import { neutralise, neutraliseLine, safeJson } from '../ui/neutralise.js';
import type { Line } from '../ui/style.js';
import { describePart } from './describe-part.js';
import { stateName, toneOf } from './states.js';
import { textOf } from './update-view.js';

/** A task with all that it has made, for people. All of it is safe to print. */
export function taskLines(task: A2aTask): Line[] {
  const said = textOf(task.message?.parts ?? []).trim();
  return [
    fact('task', neutraliseLine(task.taskId)),
    fact('context', neutraliseLine(task.contextId)),
    [
      { text: 'state   ', tone: 'dim' },
      { text: stateName(task.state), tone: toneOf(task.state) },
      { text: changedAt(task), tone: 'dim' },
    ],
    ...(said === '' ? [] : ['', said].flatMap(rows)),
    ...task.artifacts.flatMap(artifactLines),
  ];
}

/** One task of a list. */
export function taskRow(task: A2aTask): Line {
  return [
    { text: neutraliseLine(task.taskId) },
    { text: `  ${stateName(task.state).padEnd(14)}`, tone: toneOf(task.state) },
    { text: `${changedAt(task)}  ${neutraliseLine(task.contextId)}`.trimEnd(), tone: 'dim' },
  ];
}

function artifactLines({ artifactId, name, parts }: A2aTask['artifacts'][number]): Line[] {
  const title = neutraliseLine(name) === '' ? neutraliseLine(artifactId) : neutraliseLine(name);
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  const others = parts.flatMap((part): Line[] => {
    if (part.kind === 'text') return [];
    if (part.kind === 'data' && text === '') return [[{ text: safeJson(part.data ?? null) }]];
    return [[{ text: describePart(part), tone: 'dim' }]];
  });
  return [[], [{ text: `artifact ${title}`, tone: 'bold' }], ...(text === '' ? [] : rows(text.trimEnd())), ...others];
}

function rows(text: string): Line[] {
  return neutralise(text)
    .split('\n')
    .map((row): Line => [{ text: row }]);
}

function fact(name: string, value: string): Line {
  return [{ text: name.padEnd(8), tone: 'dim' }, { text: value }];
}

function changedAt({ timestamp }: A2aTask): string {
  return timestamp === undefined ? '' : `  ${neutraliseLine(timestamp)}`;
}
