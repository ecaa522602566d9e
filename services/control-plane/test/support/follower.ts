import type { MessageInitShape } from '@bufbuild/protobuf';
import { toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import { eventually } from '@sluice/testkit';

type Event = config.FollowResponse['event'];

/** A gateway on its stream, which `open` opens: what it says, and what it is told. */
export class TestFollower {
  readonly events: Event[] = [];
  /** Of what it was told beside heartbeats. */
  bytes = 0;
  readonly #stream;
  #number = 0n;

  constructor(rpc: RpcClient, saysHolding: boolean) {
    this.#stream = rpc.duplexStream(config.ConfigService.method.follow);
    this.#stream.on('error', () => {});
    this.#stream.on('data', (message: config.FollowResponse) => this.#hear(message));
    this.#stream.say({ say: { case: 'hello', value: { replicaId: 'test', saysHolding } } });
  }

  static async open(rpc: RpcClient, saysHolding = true): Promise<TestFollower> {
    const follower = new TestFollower(rpc, saysHolding);
    await follower.told('ready');
    return follower;
  }

  /** Says that this is held, and waits until what is different has been told. */
  async holds(
    held: MessageInitShape<typeof config.HeldSchema>[],
    keysMark?: string,
  ): Promise<config.Compared> {
    this.#number += 1n;
    const number = this.#number;
    const asked = keysMark === undefined ? {} : { keysMark };
    this.#stream.say({ say: { case: 'holding', value: { number, held, ...asked } } });
    return eventually(() => {
      const answer = this.events.find(
        (event) => event.case === 'compared' && event.value.number === number,
      );
      return answer?.case === 'compared' ? answer.value : false;
    }).then((answer) => answer as config.Compared);
  }

  told(kind: Event['case']): Promise<unknown> {
    return eventually(() => this.kinds.includes(kind ?? ''));
  }

  get kinds(): string[] {
    return this.events.map((event) => event.case ?? '').filter((kind) => kind !== 'heartbeat');
  }

  forget(): void {
    this.events.length = 0;
    this.bytes = 0;
  }

  close(): void {
    this.#stream.cancel();
  }

  #hear(message: config.FollowResponse): void {
    const { event } = message;
    this.events.push(event);
    if (event.case !== 'heartbeat')
      this.bytes += toBinary(config.FollowResponseSchema, message).length;
    if (event.case === 'barrier')
      this.#stream.say({ say: { case: 'passed', value: event.value.number } });
  }
}
