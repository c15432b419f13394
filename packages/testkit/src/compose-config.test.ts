import { checkServiceNames, parseComposeConfig, portVariables } from './compose-config.js';

const CONFIG = JSON.stringify({
  services: {
    web: { healthcheck: { test: ['CMD', 'true'] }, ports: [{ target: 80, published: '8080' }, { target: 81 }] },
    quiet: { healthcheck: { disable: true } },
    plain: {},
  },
});

describe('portVariables', () => {
  it('finds each port variable once and no other variable', () => {
    const text = 'a: ${A_PORT:-1}\nb: 127.0.0.1:${B_C_PORT:-22}:22\nc: ${A_PORT:-1} ${IMAGE:-x} ${REPORT:-1} ${D_PORT}';
    expect(portVariables(text)).toEqual(['A_PORT', 'B_C_PORT']);
  });
});

describe('parseComposeConfig', () => {
  it('reads published ports and whether there is a health check', () => {
    expect(parseComposeConfig(CONFIG)).toEqual(
      new Map([
        ['web', { hasHealthCheck: true, ports: new Map([[80, 8080]]) }],
        ['quiet', { hasHealthCheck: false, ports: new Map() }],
        ['plain', { hasHealthCheck: false, ports: new Map() }],
      ]),
    );
  });
});

describe('checkServiceNames', () => {
  it('accepts known names and names the unknown ones', () => {
    const services = parseComposeConfig(CONFIG);
    expect(() => {
      checkServiceNames(services, ['web', 'plain']);
    }).not.toThrow();
    expect(() => {
      checkServiceNames(services, ['web', 'wev']);
    }).toThrow('no such service: wev; the compose file has web, quiet, plain');
  });
});
