/**
 * Providers and wire formats: pure mapping, no sockets. Start at `contract.ts`
 * (the shapes), then `catalog.ts` (who there is) and `translation/find-translation.ts` (what one
 * attempt does to bodies).
 */
export { baseUrlOf, pathOf } from './address.ts';
export { assembleStream } from './assemble/assemble-stream.ts';
export {
  authHeaders,
  type ProviderCredential,
  travellingHeader,
  withRequestHeaders,
} from './auth-headers.ts';
export { avroLines, isAvro } from './batches/avro/avro-rows.ts';
export {
  type BatchRowMapper,
  type BatchRowReader,
  batchRowMapper,
  batchRowReader,
  urlOfRow,
} from './batches/batch-rows.ts';
export {
  type AskedBatch,
  type BatchUse,
  isEndedBatch,
  type OutputPlace,
  type VendorBatches,
} from './batches/jobs/vendor-batches.ts';
export { vendorBatchesOf } from './batches/jobs/vendors.ts';
export { LargeRow, tooLargeLine, tooLargeResult } from './batches/large-rows.ts';
export { notRunLine, rowId } from './batches/not-run.ts';
export { notRunFault } from './batches/not-run-fault.ts';
export { namesInRows } from './batches/row-names.ts';
export type { RowOptions, UnifiedRow } from './batches/unified-row.ts';
export { backgroundTierOf } from './bills/background-tier.ts';
export { type AskedToolUses, areToolsAlone, askedToolUses } from './bills/charged-tools.ts';
export { drawsTokens, tokensDrawn } from './bills/drawn-tokens.ts';
export { servedTierOf } from './bills/served-tier.ts';
export { withAskedImage } from './bills/with-asked-image.ts';
export type { AuthRecipe, CallFacts, ReadSetting } from './call-facts.ts';
export { filesOperations, hasOperation } from './catalog/keepings.ts';
export { findProvider, providerIds, providersKeeping } from './catalog.ts';
export {
  isReadSessionEvent,
  readSessionEvent,
  type SessionEvent,
  transcriptionModelOf,
} from './codecs/openai-realtime/index.ts';
export { type ItemEvent, itemTold, tellsItem } from './codecs/openai-realtime/items.ts';
export {
  type Said,
  tellsWords,
  wordsOfEvent,
  wordsTold,
} from './codecs/openai-realtime/texts.ts';
export { responsesRequestOf } from './codecs/openai-responses/from-chat.ts';
export {
  isItemOfOurs,
  isThoughtId,
  responseObject,
} from './codecs/openai-responses/response-object.ts';
export { withoutForeign as withoutForeignItems } from './codecs/openai-responses/without-foreign.ts';
export type {
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointChoice,
  EndpointEntry,
  FormPart,
  JsonObject,
  JsonValue,
  MemberEdits,
  ProviderEntry,
  Quirks,
  ReplyFacts,
  ReplyHead,
  SignatureKeeper,
  StreamFault,
  StreamReader,
  Translation,
  Usage,
  WireFormat,
} from './contract.ts';
export {
  accountHeaders,
  type DeclaredSetting,
  declaredSettings,
  proofHeaders,
} from './declared-settings.ts';
export { type WithoutParameter, withoutRefusedParameter } from './errors/refused-parameter.ts';
export { toldWaitMs } from './errors/told-wait.ts';
export { VendorRefusal } from './files/file-objects.ts';
export { mediaTypeOf } from './files/media-type.ts';
export { canonicalFileId } from './files/object-uri.ts';
export { type RowRule, rewriteRows } from './files/row-lines.ts';
export { finalFaultOf } from './final-faults.ts';
export { type CutEvent, cutEvent, EventCutter, encodeEvent } from './framing/cut-events.ts';
export { fieldsOfEvent, parseSseEvents, SseFramer } from './framing/sse.ts';
export { readDocument, vendorJobsAt } from './jobs/job-documents.ts';
export { arrayOf, objectOf, stringOf } from './json/json-access.ts';
export { type KeptSetting, keptSettings, keyForm, type SettingForm } from './kept-settings.ts';
export { asksStreamAt, type ModelPath, readModelPath } from './model-paths.ts';
export { factsOfModel, modelFamilies } from './models/facts-of-model.ts';
export type { ModelFacts, ModelFamily } from './models/model-facts.ts';
export type { ModelOverrides } from './models/model-overrides.ts';
export { ModelOverridesError, readModelOverrides } from './models/read-model-overrides.ts';
export { shownFacts } from './models/shown-facts.ts';
export type { ContinuationWay } from './recovery/continued-request.ts';
export { SplicedStream } from './recovery/spliced-stream.ts';
export { isStreamable, type KeptAnswers, keptAnswers } from './replay/kept-answers.ts';
export type { ReplayOptions } from './replay/openai-chunks.ts';
export { replayAsStream } from './replay/replay-as-stream.ts';
export {
  addressSettings,
  isPlain,
  type SettingKind,
  type SettingName,
  settingKind,
  settingKinds,
} from './setting-kinds.ts';
export { readSettings } from './settings.ts';
export type { SpeechFormat, Told, VoiceName } from './speech/heard-event.ts';
export { HeldSpeech } from './speech/held-speech.ts';
export type { HeldVoice } from './speech/held-voice.ts';
export { escaped, jsonPiece } from './speech/json-strings.ts';
export { speechReply } from './speech/speech-reply.ts';
export { SpeechStream, speechFormat, type Utterance } from './speech/speech-stream.ts';
export { allTexts, isPlainMember } from './texts/all-texts.ts';
export { type HeardStream, listenTo } from './texts/heard-stream.ts';
export { isNamedAsText } from './texts/text-file.ts';
export {
  encodeFurtherEvent,
  openTextStream,
  type Segment,
  type TextStream,
} from './texts/text-stream.ts';
export type { Texts } from './texts/texts.ts';
export { type TextSource, textsOf } from './texts/texts-of.ts';
export { errorForCaller } from './translation/error-for-caller.ts';
export { findTranslation, modesOf } from './translation/find-translation.ts';
export {
  findPassThrough,
  type PassThrough,
  passesUnknown,
  passThroughTranslation,
} from './translation/pass-through.ts';
export { type Conversation, readConversation } from './translation/read-conversation.ts';
export { readKeptAnswer } from './translation/read-kept-answer.ts';
export { bytesSaidIn } from './translation/said-in-bytes.ts';
export { type ToldTool, toldTools } from './translation/told-tools.ts';
export { isList } from './translation/unframed-stream.ts';
export { hideUsage } from './translation/usage-hiding-stream.ts';
export type {
  ArrivingFile,
  FileAnswer,
  FileRequest,
  FilesOperation,
  FilesUse,
  VendorFiles,
} from './vendor-files.ts';
export type { JobAnswer, JobCall, JobUse, JobWork, VendorJobs } from './vendor-jobs.ts';
export { handsOutSecrets } from './vendor-secrets.ts';
