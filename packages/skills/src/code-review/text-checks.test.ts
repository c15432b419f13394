import { countLines, textChecks } from './text-checks.js';

/** Put together here, so that no scanner takes the samples for real. */
const secret = (...parts: string[]): string => parts.join('');

const rules = (source: string): string[] => textChecks(source).map(({ rule, severity }) => `${severity} ${rule}`);

describe('hard-coded secrets', () => {
  it.each([
    ['an AWS key id', secret('AKIA', 'ABCDEFGHIJKLMNOP')],
    ['a GitHub token', secret('ghp', '_', 'a1B2'.repeat(9))],
    ['a GitLab token', secret('glpat', '-', 'x9'.repeat(10))],
    ['an npm token', secret('npm', '_', 'a1B2'.repeat(9))],
    ['a Slack token', secret('xox', 'b-', '123456789012-abcdef')],
    ['a Google API key', secret('AI', 'za', 'Sy0'.repeat(11), '_-')],
    ['a model provider key', secret('sk', '-proj-', 'aB3'.repeat(12))],
    ['a payment key', secret('sk', '_live_', 'a1'.repeat(12))],
    ['a signed token', secret('ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'JzdWIiOiIxIn0x.', 'c2lnbmF0dXJl')],
    ['a private key', secret('-----BEGIN RSA ', 'PRIVATE KEY-----')],
    ['an address with a password', secret('postgres://admin:', 'hunter22', '@db.internal/x')],
  ])('are errors where they look like %s', (_name, value) => {
    const [finding, ...others] = textChecks(`const first = 1;\nuse('${value}');`);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ line: 2, column: 6, severity: 'error', rule: 'parley/hardcoded-secret' });
  });

  it.each([
    [`const apiKey = '${secret('Zx9k2', 'LmQ8w')}';`],
    [`password: "${secret('Tr0ub4', 'dor&3')}"`],
    [`const DB_PASSWORD: string = '${secret('Tr0ub4', 'dor&3')}';`],
    [`headers['access_token'] = \`${secret('a8f5f167f44f', '4964')}\`;`],
  ])('are warnings where only a name tells: %s', (source) => {
    expect(rules(source)).toEqual(['warning parley/hardcoded-secret']);
  });

  it.each([
    ['const password = process.env.DB_PASSWORD;'],
    ["const password = 'password';"],
    ["const password = '';"],
    ["const apiKey = 'your-api-key-123A';"],
    ["const apiKey = '<API_KEY_1>';"],
    ['const apiKey = `${process.env.KEY1}`;'],
    ["const secretName = 'database-credentials';"],
    ["const password = 'must have 8 characters';"],
    ["throw new Error('password: wrong');"],
    ['const url = `postgres://${user}:${password}@host`;'],
  ])('are not suspected in %s', (source) => {
    expect(rules(source)).toEqual([]);
  });

  it('are never repeated in what is said about them', () => {
    const value = secret('ghp', '_', 'q7W8'.repeat(9));
    expect(JSON.stringify(textChecks(`const token = '${value}';`))).not.toContain(value.slice(4, 12));
  });

  it.each([
    ['password'],
    ['eyJ'],
    ['eyJaaaaaaaa.'],
    ['a://b:'],
    ['api_key="'],
    ['-----BEGIN '],
    ['A'],
    ['sk-'],
    ['secret: '],
  ])('are looked for in time linear in a line of %p', (piece) => {
    expect(textChecks(piece.repeat(49_152 / piece.length)).every(({ rule }) => rule.startsWith('parley/'))).toBe(true);
  });
});

describe('long lines', () => {
  it('are one remark, at the first', () => {
    expect(textChecks(`x\n${'y'.repeat(160)}`)).toEqual([]);
    expect(textChecks(`x\r\n${'y'.repeat(161)}\r\n${'z'.repeat(200)}`)).toMatchObject([
      { line: 2, column: 161, severity: 'info', message: 'The line is 161 characters long (and so are 1 more).' },
    ]);
  });
});

describe('countLines', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['a\r\nb\r\n', 2],
    ['\n\n', 2],
    ['a\rb\u2028c', 3],
  ])('counts %p as %p', (source, lines) => {
    expect(countLines(source)).toBe(lines);
  });
});
