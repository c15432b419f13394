export { ToolSchemaConfigurationError } from './tool-schema-configuration-error.js';
export {
  ToolSchemaValidationMiddleware,
  type ToolSchemaValidationOptions,
} from './tool-schema-validation-middleware.js';
