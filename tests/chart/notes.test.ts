import { chartArguments, helm, NAMESPACE, ofKind, render, SHAPES } from './support/render.js';

const printed = new Map(SHAPES.map((shape) => [shape, install(shape)]));

/** The lines that somebody would copy. */
const commands = (shape = ''): readonly string[] => printed.get(shape) ?? [];

function install(shape: string): readonly string[] {
  const output = helm(...chartArguments(['install'], { shape }), '--dry-run=client');
  const notes = output.slice(output.indexOf('\nNOTES:\n'));
  expect(notes).toContain('is installed as');
  return notes.split('\n').flatMap((line) => (line.startsWith('  ') ? [line.trim()] : []));
}

describe('the notes after an installation', () => {
  it.each(SHAPES)('name with %p only Services and ports that are there', (shape) => {
    const services = ofKind(render({ shape }), 'Service').map(({ metadata, spec }) => ({
      name: metadata.name,
      ports: (spec.ports as { port: number }[]).map(({ port }) => port),
    }));
    const forwards = commands(shape).filter((line) => line.includes('port-forward'));
    expect(forwards.length).toBeGreaterThan(0);
    for (const line of forwards) {
      const [, name, port] = /service\/(\S+) (\d+):\2 &$/u.exec(line) ?? [];
      expect(services.find((service) => service.name === name)?.ports).toContain(Number(port));
    }
  });

  it.each(SHAPES)('say with %p in each command in which namespace', (shape) => {
    for (const line of commands(shape)) {
      if (/^(?:kubectl|helm) /u.test(line)) expect(line).toContain(`--namespace ${NAMESPACE}`);
    }
  });

  it('offer only what the values left there', () => {
    const told = commands('minimal.yaml').join('\n');
    expect(told).not.toMatch(/jaeger|helm test|persistentvolumeclaims/u);
    expect(commands().join('\n')).toMatch(/jaeger[^]*persistentvolumeclaims/u);
    expect(commands()).toContain(`helm test parley --namespace ${NAMESPACE} --logs`);
  });
});
