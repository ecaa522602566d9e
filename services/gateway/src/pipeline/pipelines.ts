import type { Exchange } from '../exchange/exchange.ts';
import type { Reply } from '../exchange/reply.ts';
import { pipeline, type Stage } from './pipeline.ts';

/** Every stage that stands in a pipeline, built. */
export interface Stages {
  recordOutcome: Stage;
  authenticate: Stage;
  /** Of keys that may render prompts. */
  authenticateForRender: Stage;
  enforceLimits: Stage;
  resolveConfig: Stage;
  readRequest: Stage;
  usePrompt: Stage;
  keepResponses: Stage;
  resumeKept: Stage;
  bringFiles: Stage;
  runTools: Stage;
  answerStored: Stage;
  /** Given what follows it. */
  tunesManaged: (ask: (part: Exchange) => Promise<Reply>) => Stage;
  readProxyRequest: Stage;
  readJsonRequest: Stage;
  listOwnModels: Stage;
  tellOwnModel: Stage;
  findPrompt: Stage;
  renderRequest: Stage;
  answerRendered: Stage;
  routeToTarget: Stage;
  learnRpcId: Stage;
  refuseMisplacedCard: Stage;
  recordRefusal: Stage;
  findAgent: Stage;
  callAgent: Stage;
  /** Given what follows it. */
  takeCallbacks: (pass: (part: Exchange) => Promise<Reply>) => Stage;
  callBack: Stage;
}

/** What stands in the pipeline of handshakes. */
export interface SessionEntrance
  extends Pick<Stages, 'recordOutcome' | 'authenticate' | 'enforceLimits' | 'resolveConfig'> {}

/** The handshake of a WebSocket. */
export function createSessionPipeline(
  stages: SessionEntrance & { readSessionRequest: Stage; routeSession: Stage },
) {
  return pipeline([
    ...entranceOf(stages),
    stages.readSessionRequest, // the query is all there is
    stages.routeSession,
  ]);
}

/** What begins sessions that go past us: secrets for browsers, and calls. */
export function createCallPipelines(
  stages: SessionEntrance & {
    /** Of who shows a minted secret as well. */
    authenticateForCall: Stage;
    readSecretRequest: Stage;
    routeSecret: Stage;
    readCallRequest: Stage;
    routeCall: Stage;
    readProxyRequest: Stage;
    routeAccepted: Stage;
  },
) {
  const entrance = entranceOf(stages);
  return {
    secret: pipeline([...entrance, stages.readSecretRequest, stages.routeSecret]),
    call: pipeline([
      ...entranceOf({ ...stages, authenticate: stages.authenticateForCall }),
      stages.readCallRequest, // after the key: what it says of the session may be in its secret
      stages.routeCall,
    ]),
    accept: pipeline([...entrance, stages.readProxyRequest, stages.routeAccepted]),
  };
}

/** A call of another gateway, which nobody there hears any more. It was judged, and recorded, when it was placed. */
export function createTakenCallPipeline(stages: {
  enterTaken: Stage;
  resolveConfig: Stage;
  routeTaken: Stage;
}) {
  return pipeline([stages.enterTaken, stages.resolveConfig, stages.routeTaken]);
}

/** What is done with each kind of request, and in which order; the first stage is the outermost. */
export function createPipelines(stages: Stages) {
  const entrance = entranceOf(stages);
  const passing = [
    stages.enforceLimits,
    stages.resolveConfig,
    stages.readProxyRequest, // only as much as says which model it is about
    stages.resumeKept, // what asks of a kept response says the whole of it
    stages.bringFiles, // in all of it
    stages.routeToTarget,
  ];
  return {
    /** Endpoints with a body. */
    unified: pipeline([
      ...entrance,
      stages.readRequest, // after the config, which says what is read of it
      stages.usePrompt, // the request that tools, checks and limits of targets see
      stages.keepResponses, // what was said before is said again: all that follow see it
      stages.bringFiles, // in all of it: what is kept names files by their ids
      stages.runTools, // around all visits of the model that a request comes to
      stages.routeToTarget,
    ]),
    models: pipeline([
      ...entrance,
      stages.listOwnModels, // answers by itself unless a provider is named
      stages.routeToTarget,
    ]),
    /** One of them. */
    model: pipeline([
      ...entrance,
      stages.tellOwnModel, // as above
      stages.readProxyRequest,
      stages.routeToTarget,
    ]),
    proxy: pipeline([
      stages.recordOutcome,
      stages.authenticate,
      stages.answerStored, // before limits: it asks nobody, and costs nothing
      stages.tunesManaged(pipeline(passing)), // an upload before it is a request of its own
      ...passing,
    ]),
    /** A saved prompt, run. */
    prompt: pipeline([
      stages.recordOutcome,
      stages.authenticate,
      stages.findPrompt, // before limits: policies may be about a prompt
      stages.enforceLimits,
      stages.resolveConfig,
      stages.readJsonRequest, // the variables
      stages.renderRequest, // from here on it is a request like any other
      stages.routeToTarget,
    ]),
    /** Whatever is sent to an agent. No config says anything of it. */
    agent: pipeline([
      stages.learnRpcId, // tells refusals in the caller's protocol
      stages.refuseMisplacedCard, // nobody's credential helps
      stages.takeCallbacks(pipeline([stages.recordRefusal, stages.findAgent, stages.callBack])), // agents have none
      stages.authenticate,
      stages.recordRefusal, // of a known tenant
      stages.findAgent,
      stages.callAgent, // limits, call and record are the meter's
    ]),
    /** Calls no model: it counts against no limit, and leaves no record. */
    renderPrompt: pipeline([
      stages.authenticateForRender,
      stages.findPrompt,
      stages.readJsonRequest,
      stages.renderRequest,
      stages.answerRendered,
    ]),
  };
}

function entranceOf(stages: SessionEntrance): readonly Stage[] {
  return [
    stages.recordOutcome, // outermost, so that every outcome is counted once
    stages.authenticate, // limits are those of a key and its workspace
    stages.enforceLimits, // before anything is read or spent
    stages.resolveConfig, // saved-only check first, then headers and config
  ];
}
