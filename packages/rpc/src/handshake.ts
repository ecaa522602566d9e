import {
  type Client,
  connectivityState,
  InterceptingCall,
  type Interceptor,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { mismatch, type Peer, protocol, release, type ServiceRole } from './compatibility.ts';
import { tokenKey } from './definition.ts';

/**
 * Who calls and who answers say which release they are of, in the metadata of every call and answer. Who asks greets first, once
 * a connection, and makes no call that the other side would not understand; who answers refuses those of whom it knows nothing.
 */

/** What a service says of itself, whichever way. */
export const peerKeys = {
  role: 'x-sluice-service',
  release: 'x-sluice-release',
  protocol: 'x-sluice-protocol',
} as const;

/** A call without an argument, whose answer is its metadata. Services of before the handshake do not know it. */
export const greetMethod: MethodDefinition<Buffer, Buffer> = {
  path: '/sluice.Handshake/Greet',
  requestStream: false,
  responseStream: false,
  requestSerialize: (bytes) => bytes,
  requestDeserialize: (bytes) => bytes,
  responseSerialize: (bytes) => bytes,
  responseDeserialize: (bytes) => bytes,
};

/** What was found out about the side that is asked. */
export interface Partner {
  /** Undefined where it refused without saying. */
  readonly peer: Peer | undefined;
  /** Why the two do not work together, in words for who upgrades; undefined = they do. */
  readonly refusal: string | undefined;
}

export interface HandshakeOptions {
  /** Who asks, and who is asked. */
  readonly role: ServiceRole;
  readonly partner: ServiceRole;
  /** Told after each greeting. */
  readonly onPartner?: ((partner: Partner) => void) | undefined;
}

export function saySelf(metadata: Metadata, role: ServiceRole | undefined): void {
  if (role !== undefined) metadata.set(peerKeys.role, role);
  metadata.set(peerKeys.release, release);
  metadata.set(peerKeys.protocol, String(protocol));
}

/** What metadata say of who sent them; of nothing said, a release of before the handshake. */
export function readPeer(metadata: Metadata | undefined, role: ServiceRole): Peer {
  const said = Number(metadata?.get(peerKeys.protocol)[0] ?? 1);
  return {
    role,
    release: String(metadata?.get(peerKeys.release)[0] ?? '').slice(0, 64),
    protocol: Number.isSafeInteger(said) && said > 0 ? said : 1,
  };
}

const roles: ReadonlySet<string> = new Set<ServiceRole>([
  'gateway',
  'control-plane',
  'data-service',
]);

/** Why this call is not answered; undefined = it is. Operators' programs are of no service, and name none. */
export function refusalOf(metadata: Metadata, self: ServiceRole): string | undefined {
  const said = metadata.get(peerKeys.role)[0];
  if (said === undefined && metadata.get(peerKeys.protocol).length > 0) return undefined;
  const role = typeof said === 'string' && roles.has(said) ? (said as ServiceRole) : 'gateway';
  return mismatch(readPeer(metadata, role), { role: self, release, protocol });
}

/** Greets before the first call of a connection, and lets no call through to a partner that does not fit. */
export function greeting(
  client: () => Client,
  { role, partner, onPartner, token }: HandshakeOptions & { token: () => string },
): Interceptor {
  let known: Partner | undefined;
  /** Under way, by whether they wait for the other side to be there. */
  const greetings = new Map<boolean, Promise<Partner>>();

  async function greet(waits: boolean): Promise<Partner> {
    const metadata = new Metadata({ waitForReady: waits });
    metadata.set(tokenKey, token());
    saySelf(metadata, role);
    const found = await ask(client(), metadata, { role, partner });
    onPartner?.(found);
    known = found;
    // Whoever answers on the next connection may be another.
    client()
      .getChannel()
      .watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, () => {
        known = undefined;
      });
    return found;
  }

  function greeted(waits: boolean): Promise<Partner> {
    const underWay = greetings.get(waits);
    if (underWay !== undefined) return underWay;
    const begun = greet(waits).finally(() => greetings.delete(waits));
    greetings.set(waits, begun);
    return begun;
  }

  return (options, nextCall) => {
    let abandon = () => {};
    return new InterceptingCall(nextCall(options), {
      start(metadata, listener, next) {
        const isGreeting = options.method_definition.path === greetMethod.path;
        if (isGreeting || (known !== undefined && known.refusal === undefined))
          return next(metadata, listener);
        let isOver = false;
        const once = (work: () => void) => {
          if (isOver) return;
          isOver = true;
          clearTimeout(timer);
          work();
        };
        const end = (code: status, details: string) =>
          once(() => listener.onReceiveStatus({ code, details, metadata: new Metadata() }));
        // The call's own clock begins with its start.
        const timer =
          typeof options.deadline === 'number' && Number.isFinite(options.deadline)
            ? setTimeout(
                end,
                options.deadline - Date.now(),
                status.DEADLINE_EXCEEDED,
                'Deadline exceeded',
              )
            : undefined;
        abandon = () => end(status.CANCELLED, 'Cancelled on client');
        const found = known ?? greeted(metadata.getOptions().waitForReady === true);
        Promise.resolve(found).then(
          ({ refusal }) => {
            if (refusal === undefined) once(() => next(metadata, listener));
            else end(status.FAILED_PRECONDITION, refusal);
          },
          (error: ServiceError) => end(error.code ?? status.UNAVAILABLE, error.details),
        );
      },
      cancel(next) {
        abandon();
        next();
      },
    });
  };
}

/** Who waits for a side that is not there may wait longer than for an answer. */
const greetMs = 15_000;

/** @throws ServiceError when nobody answered */
function ask(
  client: Client,
  metadata: Metadata,
  { role, partner }: { role: ServiceRole; partner: ServiceRole },
): Promise<Partner> {
  return new Promise((resolve, reject) => {
    let said: Metadata | undefined;
    const settle = () => {
      const peer = readPeer(said, partner);
      resolve({ peer, refusal: mismatch({ role, release, protocol }, peer) });
    };
    const call = client.makeUnaryRequest(
      greetMethod.path,
      greetMethod.requestSerialize,
      greetMethod.responseDeserialize,
      Buffer.alloc(0),
      metadata,
      { deadline: Date.now() + greetMs },
      (error) => {
        if (error === null || error.code === status.UNIMPLEMENTED) settle();
        else if (error.code === status.FAILED_PRECONDITION)
          resolve({ peer: undefined, refusal: error.details });
        else reject(error);
      },
    );
    call.on('metadata', (received) => {
      said = received;
    });
  });
}
