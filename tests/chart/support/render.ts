import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Container, PodSpec, Resource } from './resources.js';

export const CHART = join(import.meta.dirname, '..', '..', '..', 'helm');

/** The files of `ci/`, and the values as they are. */
export const SHAPES: readonly string[] = ['', ...readdirSync(join(CHART, 'ci')).sort()];

export interface RenderOptions {
  /** A file of `ci/`; empty or absent: the values as they are. */
  readonly shape?: string;
  /** Set on top of it. */
  readonly values?: object;
  /** Default `parley`. */
  readonly release?: string;
  /** Default that of the project. */
  readonly chart?: string;
}

export const NAMESPACE = 'demo';

export function helm(...args: string[]): string {
  // Nothing here may ask a cluster, whatever the environment names.
  const env = { ...process.env, KUBECONFIG: '/dev/null' };
  return execFileSync('helm', args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
}

export function chartArguments(command: readonly string[], options: RenderOptions): string[] {
  const { shape = '', values, release = 'parley', chart = CHART } = options;
  const named = command[0] === 'lint' ? [chart] : [release, chart, '--namespace', NAMESPACE];
  const file = shape === '' ? [] : ['--values', join(CHART, 'ci', shape)];
  const set = values === undefined ? [] : ['--set-json', JSON.stringify(values)];
  return [...command, ...named, ...file, ...set];
}

export function renderText(options: RenderOptions = {}): string {
  return helm(...chartArguments(['template'], options));
}

const rendered = new Map<string, readonly Resource[]>();

/** What would be installed, tests included. Of the same options the same resources. */
export function render(options: RenderOptions = {}): readonly Resource[] {
  const key = JSON.stringify(options);
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const resources = parseAllDocuments(renderText(options))
    .map((document) => {
      // Twice the same key in a map is an error here, and the last one wins elsewhere.
      expect(document.errors).toEqual([]);
      return document.toJS() as Resource | null;
    })
    .filter((resource) => resource !== null);
  rendered.set(key, resources);
  return resources;
}

/** What helm says against these values. */
export function refusal(values: object, shape = ''): string {
  try {
    renderText({ values, shape });
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
  throw new Error('the values were taken');
}

export interface Workload {
  readonly resource: Resource;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** Everything that makes pods, the test of the release among it. */
export function workloads(resources: readonly Resource[]): readonly Workload[] {
  return resources.flatMap((resource) => {
    const name = resource.metadata.name;
    if (resource.kind === 'Pod') {
      return [{ resource, name, labels: resource.metadata.labels ?? {}, spec: resource.spec }];
    }
    const template = resource.spec?.template;
    return template === undefined
      ? []
      : [{ resource, name, labels: template.metadata?.labels ?? {}, spec: template.spec }];
  });
}

/** Which service of the release it belongs to. */
export function componentOf({ labels }: Workload): string {
  return labels['app.kubernetes.io/component'] ?? '';
}

/** Whether a selector takes a pod with these labels. */
export function selects(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector as Record<string, string>).every(([key, value]) => labels[key] === value);
}

export function containersOf({ spec }: Workload): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

export function find(resources: readonly Resource[], kind: string, name: string): Resource {
  const found = resources.find((resource) => resource.kind === kind && resource.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

export function ofKind(resources: readonly Resource[], kind: string): readonly Resource[] {
  return resources.filter((resource) => resource.kind === kind);
}
