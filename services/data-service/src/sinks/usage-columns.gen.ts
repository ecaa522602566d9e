// Written by `npm run generate` from proto/sluice/usage/v1/usage.proto, never by hand.

import { FewTexts } from '../columns/few-texts.ts';
import { Ids } from '../columns/ids.ts';
import { ListsOfTexts, MapsOfCounts, MapsOfFewCounts, MapsOfTexts } from '../columns/lists.ts';
import { NamesOfEnum } from '../columns/names-of-enum.ts';
import { Bools, Doubles, Integers32, Integers64 } from '../columns/numbers.ts';
import { Texts } from '../columns/texts.ts';
import { Times } from '../columns/times.ts';
import { outcomeName } from './column-values.ts';

/** A column of `usage_records` for each field of the record. */
export class UsageColumns {
  readonly id = new Ids('id');
  readonly request_id = new Ids('request_id');
  readonly trace_id = new Texts();
  readonly span_id = new Texts();
  readonly parent_span_id = new Texts();
  readonly span_name = new FewTexts();
  readonly replica_id = new FewTexts();
  readonly sequence = new Integers64('UInt64');
  readonly created_at = new Times('created_at_ms');
  readonly organisation_id = new FewTexts();
  readonly workspace_id = new FewTexts();
  readonly workspace_slug = new FewTexts();
  readonly api_key_id = new Texts();
  readonly user_id = new Texts();
  readonly method = new FewTexts();
  readonly request_url = new Texts();
  readonly endpoint = new FewTexts();
  readonly is_proxy_call = new Bools();
  readonly stream = new Bools();
  readonly provider = new FewTexts();
  readonly provider_slug = new FewTexts();
  readonly model = new FewTexts();
  readonly response_model = new FewTexts();
  readonly config_id = new FewTexts();
  readonly config_slug = new FewTexts();
  readonly config_version_id = new FewTexts();
  readonly bundle_hash = new FewTexts();
  readonly option_path = new FewTexts();
  readonly strategy_mode = new FewTexts();
  readonly attempt = new Integers32('UInt32');
  readonly retry_count = new Integers32('Int32');
  readonly cache_status = new FewTexts();
  readonly outcome = new NamesOfEnum(outcomeName);
  readonly status_code = new Integers32('UInt32');
  readonly error_code = new FewTexts();
  readonly finish_reason = new FewTexts();
  readonly input_tokens = new Integers64('UInt64');
  readonly output_tokens = new Integers64('UInt64');
  readonly cache_read_tokens = new Integers64('UInt64');
  readonly cache_write_tokens = new Integers64('UInt64');
  readonly cache_write_1h_tokens = new Integers64('UInt64');
  readonly reasoning_tokens = new Integers64('UInt64');
  readonly input_audio_tokens = new Integers64('UInt64');
  readonly output_audio_tokens = new Integers64('UInt64');
  readonly usage_reported = new Bools();
  readonly cost_nano_usd = new Integers64('Int64');
  readonly input_cost_nano_usd = new Integers64('Int64');
  readonly output_cost_nano_usd = new Integers64('Int64');
  readonly cost_known = new Bools();
  readonly price_book_version = new FewTexts();
  readonly price_layer = new FewTexts();
  readonly images = new Integers64('UInt64');
  readonly search_units = new Integers64('UInt64');
  readonly pages = new Integers64('UInt64');
  readonly audio_seconds = new Doubles();
  readonly characters = new Integers64('UInt64');
  readonly latency_ms = new Doubles();
  readonly time_to_first_byte_ms = new Doubles();
  readonly gateway_ms = new Doubles();
  readonly metadata = new MapsOfTexts();
  readonly decision_json = new Texts();
  readonly service_tier = new FewTexts();
  readonly served_region = new FewTexts();
  readonly units = new MapsOfFewCounts();
  readonly images_by_kind = new MapsOfFewCounts();
  readonly cache_read_audio_tokens = new Integers64('UInt64');
  readonly input_image_tokens = new Integers64('UInt64');
  readonly output_image_tokens = new Integers64('UInt64');
  readonly price_multiplier = new Doubles();
  readonly provider_cost_nano_usd = new Integers64('Int64');
  readonly provider_cost_known = new Bools();
  readonly avoided_cost_nano_usd = new Integers64('Int64');
  readonly usage_estimated = new Bools();
  readonly usage_implausible = new Bools();
  readonly counters_reserved = new MapsOfCounts();
  readonly counters_settled = new MapsOfCounts();
  readonly would_have_refused = new ListsOfTexts();
  readonly limits_degraded = new Bools();
  readonly entry_id = new Ids('entry_id');
  readonly attempt_ms = new Doubles();
  readonly entry_ms = new Doubles();
  readonly request_parsing_ms = new Doubles();
  readonly pre_processing_ms = new Doubles();
  readonly cache_processing_ms = new Doubles();
  readonly response_parsing_ms = new Doubles();
  readonly prompt_id = new FewTexts();
  readonly prompt_slug = new FewTexts();
  readonly prompt_version_id = new FewTexts();
  readonly cache_type = new FewTexts();
  readonly source = new FewTexts();
  readonly runtime = new FewTexts();
  readonly runtime_version = new FewTexts();
  readonly sdk_version = new FewTexts();
  readonly failure_cause = new FewTexts();
  readonly log_format = new FewTexts();
  readonly gateway_version = new FewTexts();
  readonly rpc_method = new FewTexts();
  readonly rpc_id = new Texts();
  readonly capability_name = new Texts();
  readonly tool_failed = new Bools();
  readonly tool_error = new Texts();
  readonly rpc_error_code = new Integers32('Int32');
  readonly upstream_status = new Integers32('UInt32');
  readonly session_id = new Texts();
  readonly protocol_version = new FewTexts();
  readonly upstream_protocol_version = new FewTexts();
  readonly transport_client = new FewTexts();
  readonly transport_upstream = new FewTexts();
  readonly auth_type = new FewTexts();
  readonly upstream_token_refreshed = new Bools();
  readonly task_id = new Texts();
  readonly context_id = new Texts();
  readonly task_state = new FewTexts();
  readonly usage_missing = new Bools();
  readonly unpriced_units = new FewTexts();
}

/** The field that each is read from. */
export const usageFields: Readonly<Record<keyof UsageColumns, number>> = {
  id: 1,
  request_id: 2,
  trace_id: 3,
  span_id: 4,
  parent_span_id: 5,
  span_name: 6,
  replica_id: 7,
  sequence: 8,
  created_at: 9,
  organisation_id: 10,
  workspace_id: 11,
  workspace_slug: 12,
  api_key_id: 13,
  user_id: 14,
  method: 15,
  request_url: 16,
  endpoint: 17,
  is_proxy_call: 18,
  stream: 19,
  provider: 20,
  provider_slug: 21,
  model: 22,
  response_model: 23,
  config_id: 24,
  config_slug: 25,
  config_version_id: 26,
  bundle_hash: 27,
  option_path: 28,
  strategy_mode: 29,
  attempt: 30,
  retry_count: 31,
  cache_status: 32,
  outcome: 33,
  status_code: 34,
  error_code: 35,
  finish_reason: 36,
  input_tokens: 40,
  output_tokens: 41,
  cache_read_tokens: 42,
  cache_write_tokens: 43,
  cache_write_1h_tokens: 44,
  reasoning_tokens: 45,
  input_audio_tokens: 46,
  output_audio_tokens: 47,
  usage_reported: 48,
  cost_nano_usd: 49,
  input_cost_nano_usd: 50,
  output_cost_nano_usd: 51,
  cost_known: 52,
  price_book_version: 53,
  price_layer: 54,
  images: 55,
  search_units: 56,
  pages: 57,
  audio_seconds: 58,
  characters: 59,
  latency_ms: 60,
  time_to_first_byte_ms: 61,
  gateway_ms: 62,
  metadata: 70,
  decision_json: 71,
  service_tier: 72,
  served_region: 73,
  units: 74,
  images_by_kind: 75,
  cache_read_audio_tokens: 76,
  input_image_tokens: 77,
  output_image_tokens: 78,
  price_multiplier: 79,
  provider_cost_nano_usd: 80,
  provider_cost_known: 81,
  avoided_cost_nano_usd: 82,
  usage_estimated: 83,
  usage_implausible: 84,
  counters_reserved: 85,
  counters_settled: 86,
  would_have_refused: 87,
  limits_degraded: 88,
  entry_id: 89,
  attempt_ms: 90,
  entry_ms: 91,
  request_parsing_ms: 92,
  pre_processing_ms: 93,
  cache_processing_ms: 94,
  response_parsing_ms: 95,
  prompt_id: 96,
  prompt_slug: 97,
  prompt_version_id: 98,
  cache_type: 99,
  source: 100,
  runtime: 101,
  runtime_version: 102,
  sdk_version: 103,
  failure_cause: 104,
  log_format: 105,
  gateway_version: 106,
  rpc_method: 107,
  rpc_id: 108,
  capability_name: 109,
  tool_failed: 110,
  tool_error: 111,
  rpc_error_code: 112,
  upstream_status: 113,
  session_id: 114,
  protocol_version: 115,
  upstream_protocol_version: 116,
  transport_client: 117,
  transport_upstream: 118,
  auth_type: 119,
  upstream_token_refreshed: 120,
  task_id: 121,
  context_id: 122,
  task_state: 123,
  usage_missing: 124,
  unpriced_units: 125,
};
