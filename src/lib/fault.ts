/**
 * Every failure that callers are told about. Stores and rules throw them and know nothing about HTTP; `http/errors.ts`
 * maps each to a status and a title.
 */
export const FAULTS = [
  'invalid_json',
  'invalid_cursor',
  'body_incomplete',
  'invalid_grant',
  'project_required',
  'missing_credentials',
  'malformed_credentials',
  'unknown_key',
  'key_rotated',
  'key_revoked',
  'key_expired',
  'wrong_project',
  'unknown_session',
  'session_expired',
  'invalid_code',
  'invalid_passkey',
  'invalid_recovery_code',
  'insufficient_scope',
  'insufficient_role',
  'key_expires_first',
  'console_session_required',
  'api_key_required',
  'not_a_member',
  'role_escalation',
  'confirmation_required',
  'passkey_required',
  'sso_required',
  'sso_session_limited',
  'https_required',
  'not_found',
  'method_not_allowed',
  'body_timeout',
  'passkey_exists',
  'passkey_limit_reached',
  'project_limit_reached',
  'project_purged',
  'key_limit_reached',
  'last_owner',
  'not_an_owner',
  'break_glass_missing',
  'domain_taken',
  'domain_unverified',
  'connection_inactive',
  'connection_untested',
  'connection_enforced',
  'sso_session_required',
  'already_member',
  'already_invited',
  'invitation_limit_reached',
  'invitation_not_pending',
  'invitation_expired',
  'rotation_conflict',
  'rotation_of_revoked_key',
  'rotation_of_expired_key',
  'external_id_taken',
  'external_id_limit_reached',
  'merge_limit_reached',
  'pin_limit_reached',
  'consumer_merged',
  'consumer_erased',
  'consumer_blocked',
  'device_revoked',
  'device_limit_reached',
  'feature_type_fixed',
  'feature_in_use',
  'feature_limit_reached',
  'plan_key_taken',
  'plan_limit_reached',
  'price_mapped',
  'grant_limit_reached',
  'domain_exists',
  'domain_limit_reached',
  'hostname_in_use',
  'domain_released',
  'domain_enforced',
  'precondition_failed',
  'connection_limit_reached',
  'secret_exists',
  'secret_limit_reached',
  'payload_gone',
  'payload_too_large',
  'too_many_events',
  'unsupported_media_type',
  'unsupported_encoding',
  'validation_failed',
  'registration_refused',
  'rate_limited',
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
  'signature_timestamp',
  'unknown_connection',
  'connection_disabled',
  'database_unavailable',
  'database_full',
  'not_configured',
  'not_migrated',
  'encryption_key_unavailable',
  'overloaded',
  'public_origin_missing',
  'internal_error',
] as const

export type FaultName = (typeof FAULTS)[number]

/** What can be wrong with a field. docs/api.md explains the codes: add to them, never change one. */
export const FIELD_CODES = [
  'required',
  'wrong_type',
  'out_of_range',
  'not_one_of',
  'malformed',
  'unknown_field',
  'public_suffix',
  'reserved',
] as const
export type FieldCode = (typeof FIELD_CODES)[number]

/** One invalid field. `pointer` is a JSON Pointer (RFC 6901) into the body or the query: `/name`. */
export type FieldFault = { pointer: string; code: FieldCode; message: string }

/** An expected failure. `detail` tells the caller what to do next and never holds a secret. */
export class Fault extends Error {
  override readonly name = 'Fault'
  constructor(
    readonly fault: FaultName,
    readonly detail: string,
    readonly extra: {
      errors?: FieldFault[]
      headers?: Record<string, string>
      missing?: string
      /** The single sign-on connection to sign in with. */
      connection?: string
      cause?: unknown
    } = {},
  ) {
    super(`${fault}: ${detail}`, extra.cause === undefined ? undefined : { cause: extra.cause })
  }
}
