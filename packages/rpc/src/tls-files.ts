import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type ClientTls, clientTls, type ServerTls, serverTls, type TlsSettings } from './tls.ts';

interface Held {
  readonly server: ServerTls | undefined;
  readonly client: ClientTls | undefined;
}

/**
 * The certificates of a service, whose files are read again: whoever renews them (cert-manager, an operator) writes others in their
 * place while the service runs. What was given as PEM in a setting, or by a path in `TLS_CERT`, `TLS_KEY` or `TLS_CA`, stays.
 */
export class TlsFiles {
  readonly #settings: TlsSettings;
  readonly #paths: readonly string[];
  readonly #listeners = new Set<(next: Held) => void>();
  #held: Held;
  /** What stood in the files. */
  #seen: string;

  /** @throws SettingsError as `serverTls` does */
  constructor(settings: TlsSettings) {
    const { TLS_CERT_PATH, TLS_KEY_PATH, TLS_CA_PATH } = settings;
    this.#settings = settings;
    this.#paths = [TLS_CERT_PATH, TLS_KEY_PATH, TLS_CA_PATH].filter((path) => path !== undefined);
    this.#held = this.#read();
    this.#seen = this.#paths.map((path) => readFileSync(path, 'latin1')).join('\n');
  }

  /** Whether there is anything that could be renewed. */
  get areNone(): boolean {
    return this.#paths.length === 0;
  }

  /** Undefined = there is no certificate of ours. */
  get server(): ServerTls | undefined {
    const { server } = this.#held;
    return server && { ...server, renewals: this.#renewals((held) => held.server) };
  }

  /** Undefined = the others are asked in clear. */
  get client(): ClientTls | undefined {
    const { client } = this.#held;
    return client && { ...client, renewals: this.#renewals((held) => held.client) };
  }

  /**
   * Whether others stand in the files by now: connections are made with those from here on.
   * @throws where they cannot be used, as between the writes of a certificate and of its key; those of before stay
   */
  async look(): Promise<boolean> {
    const texts = await Promise.all(this.#paths.map((path) => readFile(path, 'latin1')));
    const seen = texts.join('\n');
    if (seen === this.#seen) return false;
    this.#held = this.#read();
    this.#seen = seen;
    for (const listener of this.#listeners) listener(this.#held);
    return true;
  }

  #read(): Held {
    return { server: serverTls(this.#settings), client: clientTls(this.#settings) };
  }

  #renewals<T>(part: (held: Held) => T | undefined) {
    return (listener: (next: T) => void): void => {
      this.#listeners.add((held) => {
        const next = part(held);
        if (next !== undefined) listener(next);
      });
    };
  }
}
