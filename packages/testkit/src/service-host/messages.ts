/** What a worker says to its host. */
export type ToHost =
  | {
      readonly kind: 'start';
      readonly id: number;
      /** Absolute path of the module that exports `service`. */
      readonly entry: string;
      readonly environment: Readonly<Record<string, string | undefined>>;
      /** The file that gets its log. */
      readonly logPath: string;
    }
  | { readonly kind: 'stop'; readonly id: number };

/** What the host says. */
export type FromHost =
  | { readonly kind: 'ready'; readonly id: number }
  | { readonly kind: 'ended'; readonly id: number; readonly code: number };
