/**
 * Lints texts that are in no file: reads `[{ filePath, code }]` as JSON, prints the rules each one breaks.
 * A process of its own, because the module loader of the tests cannot load eslint's plugins.
 */
import { text } from 'node:stream/consumers';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

// The files exist only in the question, so the rules that need the compiler are left out.
const eslint = new ESLint({ overrideConfig: [{ files: ['**/*.ts'], ...tseslint.configs.disableTypeChecked }] });
const answers = [];
for (const { filePath, code } of JSON.parse(await text(process.stdin))) {
  const [result] = await eslint.lintText(code, { filePath });
  answers.push((result?.messages ?? []).map((message) => message.ruleId ?? message.message));
}
process.stdout.write(`${JSON.stringify(answers)}\n`);
