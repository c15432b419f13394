import { createA2aServer, type A2aCardOptions } from '@parley/agent';
import type { Logger, Metrics } from '@parley/service-kit';
import express, { type Express, type RequestHandler } from 'express';
import type { ProxyEngine } from '../../engine/index.js';
import { ProxyRequestHandler, type SendersEngine } from './request-handler.js';
import { wantsCurrent } from './wants-current.js';

export interface CurrentOptions {
  readonly engine: SendersEngine & Pick<ProxyEngine, 'agentConfig' | 'skills'>;
  readonly agentId: string;
  /** Under which others reach the proxy. */
  readonly publicUrl: string;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

export interface ServedCurrent {
  /** Takes what is of A2A 1.0, and passes all else on. */
  readonly handler: RequestHandler;
  /** Ends open streams. */
  close(): void;
}

const NAME = 'agentenv-proxy';
const DESCRIPTION = 'An agent played from outside: a driver answers its turns.';
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** A2A 1.0 beside the 0.3 dialect: JSON-RPC and the card at the same paths, HTTP+JSON at its own. */
export function serveCurrent(options: CurrentOptions): ServedCurrent {
  const { logger, metrics } = options;
  const requestHandler = new ProxyRequestHandler(options.engine, () => server.card);
  const server = createA2aServer({
    card: cardOptions(options),
    requestHandler,
    logger,
    ...(metrics !== undefined && { metrics }),
    maxBodyBytes: MAX_BODY_BYTES,
    compat: false,
  });
  const app = plainApp();
  const card = liveCard(options, requestHandler);
  // The card as it is now is found before that of the start.
  app.use((request, response, next) => {
    if (request.path.startsWith('/.well-known/')) card()(request, response, next);
    else next();
  });
  server.mount(app);
  return {
    handler: (request, response, next) => {
      if (wantsCurrent(request)) app(request, response, next);
      else next();
    },
    close: () => {
      server.close();
    },
  };
}

/** Name, description and skills are configured while the proxy serves; the card's bytes are made once for each of them. */
function liveCard(options: CurrentOptions, requestHandler: ProxyRequestHandler): () => Express {
  let made: { readonly of: string; readonly app: Express } | undefined;
  return () => {
    const card = cardOptions(options);
    const of = JSON.stringify([card.name, card.description, card.skills]);
    if (made?.of === of) return made.app;
    const app = plainApp();
    createA2aServer({ card, requestHandler, logger: options.logger, compat: false }).mount(app);
    made = { of, app };
    return app;
  };
}

function cardOptions({ engine, agentId, publicUrl }: CurrentOptions): A2aCardOptions {
  const { agentConfig, skills } = engine;
  return {
    agentId,
    name: textOr(agentConfig['name'], NAME),
    description: textOr(agentConfig['description'], DESCRIPTION),
    version: '1.0.0',
    publicUrl,
    skills: skills.map(({ name, description }) => ({
      id: `skill-${name}`,
      name,
      description,
      tags: ['skill'],
      inputModes: [],
      outputModes: [],
    })),
    extensions: [],
    streaming: true,
    pushNotifications: false,
    compat: false,
  };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

function plainApp(): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.enable('case sensitive routing');
  return app;
}
