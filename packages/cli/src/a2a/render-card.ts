import type { A2aConnection } from '@parley/agent';
import { neutraliseLine } from '../ui/neutralise.js';
import type { Line } from '../ui/style.js';

type Card = A2aConnection['card'];
type Skill = Card['skills'][number];

/** Who an agent is and what it can do, for people. All of it is safe to print. */
export function cardLines(card: Card): Line[] {
  const { name, version, description, provider } = card;
  const [by, at] = [provider?.organization ?? '', provider?.url ?? ''].map(neutraliseLine);
  return [
    [
      { text: neutraliseLine(name), tone: 'bold' },
      { text: ` ${neutraliseLine(version)}`.trimEnd(), tone: 'dim' },
    ],
    ...optional(description),
    ...fact('by', [by, at].filter((one) => one !== '').join(', ')),
    ...fact('can', featuresOf(card).join(', ')),
    ...fact('login', Object.keys(card.securitySchemes).map(neutraliseLine).join(', ')),
    ...heading('interfaces'),
    ...card.supportedInterfaces.map(({ protocolBinding, protocolVersion, url }): Line => [
      { text: `  ${neutraliseLine(protocolBinding)} ${neutraliseLine(protocolVersion)}`.padEnd(16), tone: 'accent' },
      { text: ` ${neutraliseLine(url)}` },
    ]),
    ...extensionLines(card),
    ...heading('skills'),
    ...card.skills.flatMap(skillLines),
  ];
}

function featuresOf({ capabilities }: Card): string[] {
  const features = [
    [capabilities?.streaming, 'streaming'],
    [capabilities?.pushNotifications, 'push notifications'],
    [capabilities?.extendedAgentCard, 'an extended card'],
  ] as const;
  return features.flatMap(([has, name]) => (has === true ? [name] : []));
}

function extensionLines({ capabilities }: Card): Line[] {
  const extensions = capabilities?.extensions ?? [];
  if (extensions.length === 0) return [];
  return [
    ...heading('extensions'),
    ...extensions.map(({ uri, required }): Line => [
      { text: `  ${neutraliseLine(uri)}` },
      ...(required ? [{ text: ' required', tone: 'warn' as const }] : []),
    ]),
  ];
}

function skillLines({ id, name, description, tags }: Skill): Line[] {
  const title = [name === id ? '' : name, ...tags.map((tag) => `#${tag}`)].map(neutraliseLine);
  return [
    [
      { text: `  ${neutraliseLine(id)}`, tone: 'accent' },
      { text: ` ${title.filter((word) => word !== '').join(' ')}`.trimEnd(), tone: 'dim' },
    ],
    ...optional(description, '    '),
  ];
}

function heading(name: string): Line[] {
  return [[], [{ text: name, tone: 'bold' }]];
}

function fact(name: string, value: string): Line[] {
  return value === '' ? [] : [[{ text: name.padEnd(6), tone: 'dim' }, { text: value }]];
}

function optional(text: string, indent = ''): Line[] {
  const safe = neutraliseLine(text);
  return safe === '' ? [] : [[{ text: `${indent}${safe}` }]];
}
