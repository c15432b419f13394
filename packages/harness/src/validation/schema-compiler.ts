import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { messageOf } from '../errors.js';
import type { JsonObject, JsonValue } from '../json.js';
import { meteredSchema, STEP_KEYWORD } from './metered-schema.js';
import { schemaDialect, type SchemaDialect } from './schema-dialect.js';
import { schemaFormats } from './schema-formats.js';
import { isMap, schemasIn } from './schema-nodes.js';
import { patternEngine } from './schema-patterns.js';
import { ToolSchemaConfigurationError } from './tool-schema-configuration-error.js';
import { hasUniqueItems } from './unique-items.js';
import { WorkBudget } from './work-budget.js';

/** Schemas with more parts are refused: compiling them would hold up everything else. */
const MAX_SCHEMA_PARTS = 5_000;

/** Engines keep something of all that they compiled, so they are replaced from time to time. */
const MAX_SCHEMAS_PER_ENGINE = 500;

/** One check's steps: at most about a tenth of a second. */
const MAX_STEPS = 2_000_000;

const MAX_COMPILE_STEPS = 20_000_000;

/** Gives what is wrong with arguments, empty if nothing is. @throws TooMuchWorkError, or RangeError if too deep. */
export type ArgumentCheck = (value: JsonObject) => readonly ErrorObject[];

export interface SchemaCompilerOptions {
  /** Stops at the first error: a check of many values must not collect an error for each. Default false. */
  readonly firstErrorOnly?: boolean;
  /** Hears of patterns that are not checked. */
  readonly onUncheckedPattern?: (toolName: string, pattern: string) => void;
}

/** Compiles schemas of tools. Never fetches: a reference that leads out of its schema is an error. */
export class SchemaCompiler {
  readonly #budget = new WorkBudget();
  readonly #engines = new Map<SchemaDialect, Ajv | Ajv2019 | Ajv2020>();
  readonly #options: SchemaCompilerOptions;
  #compiledCount = 0;
  #toolName = '';

  constructor(options: SchemaCompilerOptions = {}) {
    this.#options = options;
  }

  /** @throws ToolSchemaConfigurationError */
  compile(toolName: string, schema: unknown): ArgumentCheck {
    if (!isSchema(schema)) throw new ToolSchemaConfigurationError(toolName, 'it must be an object');
    this.#toolName = toolName;
    try {
      return this.#compile(schema);
    } catch (error) {
      throw new ToolSchemaConfigurationError(toolName, messageOf(error), { cause: error });
    }
  }

  #compile(schema: JsonObject): ArgumentCheck {
    const { $schema: declared, ...rest } = schema;
    if (declared !== undefined && typeof declared !== 'string') throw new TypeError('$schema must be a text');
    const parts = schemasIn(rest);
    if (parts.length > MAX_SCHEMA_PARTS) throw new RangeError(`more than ${MAX_SCHEMA_PARTS} parts`);
    const dialect = schemaDialect(schema);
    // Ids are shared by everything that an engine compiled; those of one tool must not be seen by another.
    const hasId = parts.some((part) => typeof part['$id'] === 'string');
    const engine = hasId ? this.#newEngine(dialect) : this.#engineOf(dialect);
    // Schemas are checked by a compiled schema themselves.
    this.#budget.reset(MAX_COMPILE_STEPS);
    const validate = engine.compile(meteredSchema(rest) as object);
    return (value) => {
      this.#budget.reset(MAX_STEPS);
      return validate(value) ? [] : (validate.errors ?? []);
    };
  }

  #engineOf(dialect: SchemaDialect): Ajv | Ajv2019 | Ajv2020 {
    this.#compiledCount += 1;
    if (this.#compiledCount % MAX_SCHEMAS_PER_ENGINE === 0) this.#engines.clear();
    const engine = this.#engines.get(dialect) ?? this.#newEngine(dialect);
    this.#engines.set(dialect, engine);
    return engine;
  }

  #newEngine(dialect: SchemaDialect): Ajv | Ajv2019 | Ajv2020 {
    const budget = this.#budget;
    const options: Options = {
      allErrors: this.#options.firstErrorOnly !== true,
      strict: false,
      messages: false,
      logger: false,
      // Names such as `constructor` are only there if the arguments have them.
      ownProperties: true,
      // 0.07 is a multiple of 0.01, whatever dividing them gives.
      multipleOfPrecision: 9,
      code: {
        regExp: patternEngine(budget, (pattern) => this.#options.onUncheckedPattern?.(this.#toolName, pattern)),
        process: withOwnNamesOnly,
      },
    };
    const engine = dialect === 'draft-07' ? new Ajv(options) : new (dialect === '2019-09' ? Ajv2019 : Ajv2020)(options);
    for (const [name, format] of schemaFormats(budget)) engine.addFormat(name, format);
    const spend = (steps: number) => {
      budget.spend(steps);
      return true;
    };
    engine.addKeyword({ keyword: STEP_KEYWORD, schemaType: 'number', validate: spend, errors: false });
    engine.removeKeyword('uniqueItems');
    engine.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      validate: (wanted: boolean, items: readonly JsonValue[]) => !wanted || hasUniqueItems(items, budget),
    });
    return engine;
  }
}

/** Generated code asks which names were seen as if the answer could not be inherited from every object. */
function withOwnNamesOnly(code: string): string {
  return code.replaceAll(/!(props\d+)\[(key\d+)\]/gu, '!Object.hasOwn($1, $2)');
}

function isSchema(value: unknown): value is JsonObject {
  return isMap(value as JsonValue | undefined);
}
