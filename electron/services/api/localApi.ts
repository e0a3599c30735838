/**
 * The API that a person switches on in the window: it listens on this machine alone, behind the same gateway as
 * `concertina serve`. Follows the settings, and tells windows whether it listens and who asks. Where the API is served by the
 * command line, it tells what that was started with.
 */

import { createServer, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { msg } from '@lingui/core/runtime-macro';
import type { ApiStatus } from '../../contract/api';
import { ConcertinaError, type ErrorPayload, toErrorPayload } from '../../contract/errors';
import type { LocalApiSettings } from '../../contract/lib/localApi';
import { SerialQueue } from '../../contract/lib/serialQueue';
import type { EngineService } from '../engine/engineService';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import type { SettingsService } from '../settings/settingsStore';
import { keptKey, newKey } from './access';
import { type After, type ApiService, afterTimer } from './apiService';
import { createGateway, type Gateway, type GatewayOptions, slowClients } from './gateway';

const host = '127.0.0.1';
/** between two reports of bytes */
const reportMs = 300;

/** What the command line says of the API that it serves. */
export type Served = Pick<ApiStatus, 'address' | 'keyFile' | 'needsKey' | 'rules'>;

interface LocalApiParts {
  service: ApiService;
  engine: Pick<EngineService, 'offerApi'>;
  settings: Pick<SettingsService, 'get' | 'changed'>;
  /** that only its owner may read */
  keyFile: string;
  log: Logger;
  after?: After;
  /** of connections and of requests, in place of the usual ones */
  connections?: ServerOptions;
  limits?: GatewayOptions['limits'];
}

export class LocalApi {
  readonly changed = new Emitter<ApiStatus>();
  private server: Server | null = null;
  private gateway: Gateway | null = null;
  private problem: ErrorPayload | null = null;
  private served: Served | null = null;
  /** settings that were followed last, as JSON */
  private followed = '';
  private closed = false;
  private readonly queue = new SerialQueue();
  private stopReport: (() => void) | null = null;

  constructor(private readonly parts: LocalApiParts) {
    const { service, after = afterTimer } = parts;
    service.changed.on(() => this.report());
    service.progressed.on(() => {
      this.stopReport ??= after(reportMs, () => this.report());
    });
  }

  /** Listens from now on whenever the settings say so. Resolves when it does, or has failed to, as the status says. */
  open(): Promise<void> {
    this.parts.settings.changed.on(() => void this.follow());
    return this.follow();
  }

  /** It is the command line that serves the API: nothing can be changed here. */
  serve(served: Served): void {
    this.served = served;
    this.report();
  }

  status(): ApiStatus {
    const { service, settings, keyFile } = this.parts;
    const requests = service.requests();
    if (this.served) return { by: 'serve', problem: null, requests, ...this.served };
    const { slots, origins, loadOnRequest, idleMinutes } = settings.get().api;
    return {
      ...{ by: 'window', problem: this.problem, keyFile, needsKey: true, requests },
      address: this.server && `http://${host}:${portOf(this.server)}/v1`,
      rules: { slots, origins, loadOnRequest, idleMinutes },
    };
  }

  key(): string {
    this.requireOwn();
    return keptKey(this.parts.keyFile);
  }

  /** Requests that run go on. */
  renewKey(): string {
    this.requireOwn();
    const key = newKey(this.parts.keyFile);
    if (this.server) this.gateway = this.createGateway(this.parts.settings.get().api);
    return key;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.stopReport?.();
    await this.queue.run(() => this.stop());
  }

  private requireOwn(): void {
    if (!this.served) return;
    const hint = 'It says at its start where the key is. Start it with another --key to change it.';
    throw new ConcertinaError('forbidden', msg`The key of this API belongs to \`concertina serve\`.`, hint);
  }

  private follow(): Promise<void> {
    return this.queue.run(async () => {
      const wanted = this.parts.settings.get().api;
      if (this.closed || this.followed === JSON.stringify(wanted)) return;
      this.followed = JSON.stringify(wanted);
      this.problem = null;
      try {
        if (wanted.on) await this.start(wanted);
        else await this.stop();
      } catch (error) {
        await this.stop();
        this.problem = toErrorPayload(error);
        this.parts.log.warn(`the API does not listen: ${this.problem.message}`);
      }
      this.offer(wanted);
      this.report();
    });
  }

  private async start(wanted: LocalApiSettings): Promise<void> {
    this.gateway = this.createGateway(wanted);
    if (this.server && portOf(this.server) === wanted.port) return;
    await this.stop();
    const server = createServer({ ...slowClients, ...this.parts.connections }, (request, response) => {
      if (this.gateway?.handle(request, response, wanted.port)) return;
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('The API is under /v1.');
    });
    await listen(server, wanted.port);
    this.server = server;
  }

  private createGateway({ origins }: LocalApiSettings): Gateway {
    const { service, keyFile, log, limits } = this.parts;
    return createGateway({ service, key: keptKey(keyFile), cors: origins, hosts: [host], log, limits });
  }

  /** Requests that run end with their connections. */
  private async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (!server) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** What the engine and the answers of the API are to do, as long as it listens. */
  private offer({ slots, loadOnRequest, idleMinutes }: LocalApiSettings): void {
    const { service, engine } = this.parts;
    const listens = this.server !== null;
    service.oneModel = !loadOnRequest;
    service.restAfter(listens && idleMinutes !== null ? idleMinutes * 60_000 : null);
    engine.offerApi(listens ? { slots, options: [] } : null);
  }

  private report(): void {
    this.stopReport?.();
    this.stopReport = null;
    this.changed.emit(this.status());
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === 'EADDRINUSE')
      throw new ConcertinaError(
        'busy',
        msg`Port ${{ port: String(port) }} is taken by another program.`,
        msg`Choose another port.`,
      );
    if (code === 'EACCES')
      throw new ConcertinaError(
        'forbidden',
        msg`The system does not allow port ${{ port: String(port) }}.`,
        msg`Choose another port.`,
      );
    throw error;
  }
}
