import type { Express, Request, Response } from 'express';
import { isoTime } from '../domain/iso-time.js';
import type { RegistryCore } from '../replica/core-types.js';

const SHOWN = 200;

/** `/`: a plain list of who lives, for a person with a browser; no script, nothing from elsewhere. */
export function mountWebPage(app: Express, core: RegistryCore): void {
  app.get('/', (_request: Request, response: Response) => {
    const page = core.discover({ limit: SHOWN, countTotal: true });
    const rows = page.agents.map((agent) => {
      const { name, endpoint, capabilities } = agent.manifest();
      const cells = [agent.agentId, name, endpoint, capabilities.join(', '), isoTime(agent.deadlineMs)];
      return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
    });
    const stale =
      page.staleSinceMs === undefined ? '' : `<p>The store is away; this is as of ${isoTime(page.staleSinceMs)}.</p>`;
    const count = `${String(page.total ?? page.agents.length)} living agents${page.nextCursor === undefined ? '' : `, the first ${String(SHOWN)} of them`}`;
    response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response
      .type('html')
      .send(
        `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>Parley registry</title>` +
          `<style>body{font:16px system-ui;margin:2rem}td,th{text-align:left;padding:.3rem 1rem .3rem 0;border-bottom:1px solid #ddd}</style>` +
          `<h1>Parley registry</h1>${stale}<p>${count}</p>` +
          `<table><tr><th>Agent<th>Name<th>Endpoint<th>Capabilities<th>Lease until</tr>${rows.join('')}</table></html>`,
      );
  });
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
