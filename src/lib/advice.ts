import type { FaultName } from './faults'

/** Periods in words, such as `30 days`. Rooms above decide them, so whoever shows advice passes them in. */
export type Periods = Record<'body' | 'challenge' | 'code' | 'confirmation' | 'grant' | 'restore', string>

/** What a caller can do about each failure, in general. A response's `detail` says what is wrong with that one call. */
const ADVICE: Record<FaultName, string | ((periods: Periods) => string)> = {
  invalid_json: 'Send one JSON value in UTF-8, with Content-Type: application/json.',
  invalid_cursor:
    'Start the list again without a cursor. A cursor works only with the list and the filters that it came from.',
  cursor_expired:
    'Get a new position with after=latest, read the lists again, and then follow the changes after that position.',
  body_incomplete: 'Send the body again. The connection ended before all of it had arrived.',
  invalid_grant: ({ grant }) =>
    `Begin another sign-in. A code works once, within ${grant}, for the project and the address that it was made for.`,
  invalid_idempotency_key:
    'Send 1 to 255 visible ASCII characters without spaces in the header Idempotency-Key, for example a UUID.',
  idempotency_not_supported:
    'Send the call without Idempotency-Key. The documentation of the API lists the calls that take the header.',
  project_required: 'Send the id of the project in the header X-Project-Id, with an API key too.',
  missing_credentials: 'Send the header Authorization: Bearer, with an API key or a session token.',
  malformed_credentials: 'Copy the whole secret again: it is svc_v1_ followed by 96 hexadecimal characters.',
  unknown_key: 'Check that the secret is from this deployment. Mint another key if it is lost.',
  key_rotated: 'Use the secret that the rotation returned. If nobody has it, rotate the key again.',
  key_revoked:
    'Use another API key. A revoked key cannot be restored. If the project was deleted, its keys work again once an owner restores it.',
  key_expired: 'Mint another API key. An expired key cannot be renewed.',
  wrong_project: 'Send the id of the key’s own project in X-Project-Id.',
  unknown_session: 'Sign in again. The session was ended, or the token is not from this deployment.',
  session_expired: 'Sign in again.',
  invalid_code: ({ code }) => `Request another code. A code works once, for ${code}.`,
  invalid_passkey: ({ challenge }) =>
    `Ask for a new challenge and use the passkey again. A challenge works once, for ${challenge}.`,
  invalid_recovery_code: 'Use another recovery code. Each code works once, and new codes replace the old ones.',
  insufficient_scope: 'Use a key that has the scope in the response, or mint one.',
  insufficient_role: 'Ask an admin or an owner of the project to do it, or to change your role.',
  network_not_allowed:
    'Send the request from a network that the key allows, or allow this one with a console session. The response has the address.',
  key_reaches_further: 'Rotate the other key with a session, or with a key that has no narrower networks and limit.',
  key_expires_first: 'Rotate the other key with a session, or with a key that does not expire before the other key.',
  console_session_required: 'Use a session token: sign in through /auth. An API key cannot make this call.',
  api_key_required: 'Use an API key. This call describes the key that makes it.',
  not_a_member: 'Check X-Project-Id. If it is right, ask an admin of the project to invite you.',
  role_escalation: 'Ask a member whose role is at least as high as the role that the call would give or change.',
  confirmation_required: ({ confirmation }) =>
    `Request a code for your own address with POST /auth/codes, send it to POST /auth/session/confirm, or use a passkey with POST /auth/session/passkey. Then repeat the call within ${confirmation}.`,
  passkey_required:
    'Sign in with your passkey, or use it or a recovery code in this session. If you have no passkey, add one first.',
  sso_required:
    'Open the address from the response in a browser, and sign in there. An owner with break-glass access can sign in with a code.',
  sso_session_limited:
    'Sign in with a code or a passkey. A session from single sign-on reaches only the project of its connection.',
  https_required: 'Use https://. If a secret was sent over plain HTTP, rotate it.',
  not_found: 'Check the path and the id, and that the id belongs to this project.',
  method_not_allowed: 'Use a method that the header Allow lists.',
  body_timeout: ({ body }) => `Send the body again. All of it must arrive within ${body}.`,
  passkey_exists: 'Use the passkey that is there. An authenticator keeps one passkey for each account.',
  passkey_limit_reached: 'Delete a passkey that you no longer use, and try again.',
  project_limit_reached: ({ restore }) =>
    `Use one of the existing projects. A deleted project counts toward the limit until its data is removed, ${restore} after the deletion.`,
  project_purged: 'Create another project. The data of this one cannot be brought back.',
  key_limit_reached: 'Revoke keys that nobody uses, and try again.',
  last_owner: 'Make another member an owner first. A project always has one.',
  not_an_owner: 'Make the member an owner first. Only owners can have break-glass access.',
  break_glass_missing: 'Give break-glass access to another owner first, or stop enforcing single sign-on.',
  domain_taken: 'Use the connection that has the domain, or remove the domain from it.',
  domain_unverified: 'Add a domain of the project to the connection, and verify it.',
  connection_inactive: 'Activate the connection: Settings → Single sign-on. It needs a passed test run.',
  connection_untested: 'Run a test of the connection, and try again once it has passed.',
  connection_enforced: 'Stop enforcing the connection first.',
  connection_changed: 'Read the connection again, and repeat the call if the change is still wanted.',
  sso_session_required:
    'Sign in with this connection, and repeat the call in that session. This proves that it works for you.',
  already_member: 'Change the role of the member instead.',
  already_invited: 'Resend the pending invitation, or revoke it and invite the address again.',
  invitation_limit_reached: 'Revoke invitations that nobody will accept, and try again.',
  invitation_not_pending: 'Read the invitation: it was accepted, declined or revoked.',
  invitation_expired: 'Ask for the invitation to be sent again.',
  rotation_conflict: 'Read the key or the device again. If someone else rotated it, they have the new secret.',
  would_lock_out: 'Add the network that you call from, or send confirm: true if the key should not be used from it.',
  rotation_of_revoked_key: 'Mint another API key. A revoked key cannot be restored.',
  rotation_of_expired_key: 'Mint another API key. An expired key cannot be renewed.',
  external_id_taken: 'Use the consumer that has the external id, or merge the two consumers.',
  external_id_limit_reached: 'Use one of the external ids that the consumer has.',
  merge_limit_reached: 'Merge into another consumer, or remove pins or grants that are no longer needed.',
  pin_limit_reached: 'Remove pins that are no longer needed. Events then link those customers again.',
  consumer_merged: 'Use the consumer from the response.',
  consumer_erased:
    'Create another consumer. An erased one cannot be brought back, and its customers cannot be linked again.',
  consumer_blocked: 'Unblock the consumer if it should be able to connect again.',
  device_revoked:
    'A revoked installation stays revoked. Let the app make a new installation id, and register that one.',
  device_expired: 'Set a later `expires_at`, or register another device.',
  device_limit_reached:
    'Revoke a device that is not used, or send `when_full` as `replace_oldest`. If the limit is 0, neither helps: add the feature in the detail to a plan of the consumer, or grant it.',
  feature_type_fixed: 'Create another feature with a key of its own.',
  feature_in_use: 'Remove the feature from all plans, revoke its grants, and try again.',
  feature_limit_reached: 'Delete features that nothing uses, and try again.',
  plan_key_taken: 'Use the plan that has the key, or choose another key.',
  plan_limit_reached: 'Change a plan that is no longer used.',
  catalog_limit_reached:
    'Make the configs of the plans shorter, or remove features from plans that are no longer used.',
  plan_is_default: 'Set another `default_plan`, or null, and try again.',
  price_mapped: 'Remove the price from the plan in the response, and try again.',
  grant_limit_reached: 'Revoke grants that the consumer no longer needs, or grant a plan.',
  domain_exists: 'Use the domain from the response. If it has failed, check it again.',
  domain_limit_reached: 'Delete domains that nothing uses, and try again.',
  hostname_in_use: 'Remove the TXT record of the other project, and check the domain again.',
  domain_released: 'Add the domain again. It gets a new record.',
  domain_enforced: 'Stop enforcing single sign-on, or remove the domain from the connection, and try again.',
  precondition_failed: 'Read the object again, and send its current ETag in If-Match.',
  mute_limit_reached: 'Unmute causes that matter again, and try again.',
  connection_limit_reached: 'Delete connections that nothing uses, and try again.',
  secret_exists: 'Do nothing: the connection already has this secret.',
  secret_limit_reached: 'Remove a secret that is no longer used, and try again.',
  api_key_missing:
    'Set an API key on a connection to the vendor, or resume or enable the one that has it. Then call again.',
  connection_paused:
    'Resume the connection: set its `status` to `active`. The events that it holds are then processed. Then call again.',
  import_running: 'Read the list of imports. Wait until the running one has ended, or cancel it.',
  api_key_unsupported: 'Do nothing. The service learns about this vendor only from its events.',
  vendor_endpoint_unsupported: 'Add the webhook endpoint at the vendor by hand, and enter its signing secret.',
  vendor_endpoint_limit: 'Remove an unused webhook endpoint at the vendor, and try again.',
  verification_unsupported:
    'Use a connection of the vendor `hmac`. For other vendors, the service knows how they sign.',
  endpoint_limit_reached: 'Delete endpoints that nothing uses, and try again.',
  last_secret: 'Add another secret first, or delete the endpoint.',
  resend_limit_reached: 'Wait until one of the resends is done, and try again.',
  replay_running: 'Wait until the replay in the response is done, and try again.',
  idempotent_result_gone:
    'To create another one, use another Idempotency-Key. The response has the id of the deleted object.',
  secret_not_replayable:
    'If you never received the secret, rotate the key or device in the response, with another Idempotency-Key.',
  delivered_again: 'Replay the later delivery, which the detail names. It is the same event of the vendor.',
  payload_gone: 'The event cannot be replayed. Its summary and its results are still there.',
  payload_too_large: 'Send less in one call. The response has the limit.',
  too_many_events: 'Make the vendor send fewer events in one delivery. The response has the limit.',
  unsupported_media_type: 'Send Content-Type: application/json.',
  unsupported_encoding: 'Send the body without Content-Encoding.',
  validation_failed: 'Correct the fields that errors lists. Each entry has a JSON Pointer, a code and a message.',
  idempotency_key_reused: 'Use another Idempotency-Key for each request, and the same one only to repeat a request.',
  api_key_invalid: 'Copy the whole key again, or create a new one at the vendor.',
  api_key_too_powerful: 'Create a key at the vendor that has only the permissions that the docs list.',
  api_key_lacks_permission: 'Give the key the permission in `detail`, or use another key.',
  ingest_url_not_public: 'Ask the operator to set `PUBLIC_ORIGIN` to the public https address of the deployment.',
  api_key_other_mode:
    'Use a key of the same mode as the connection. To change the mode of the connection, remove its key first.',
  api_key_other_account: 'Use a key of the account that sends the events of the connection.',
  registration_refused: ({ challenge }) =>
    `Ask for new options and register the passkey again. The options work once, for ${challenge}.`,
  daily_limit_reached:
    'Wait until midnight UTC. Calls that end someone’s access still work: remove a member, lower a role, revoke an invitation, disable or delete a connection, delete a domain or the project.',
  rate_limited: 'Wait for the number of seconds in Retry-After, and call less often.',
  signature_missing: 'Send the vendor’s signature header. Check that no proxy removes it.',
  signature_malformed: 'Check that the connection is for this vendor, and that no proxy changes headers.',
  signature_mismatch: 'Copy the signing secret of this endpoint from the vendor again, and add it to the connection.',
  signature_timestamp: 'Check the sender’s clock, and that nothing on the way delays deliveries.',
  unknown_connection: 'Copy the ingest URL of the connection again, and enter it at the vendor.',
  connection_disabled: 'Enable the connection in the console or with the API. The vendor then sends again.',
  vendor_key_unavailable:
    'Send the delivery again after Retry-After. The service asks for the vendor’s key once a minute.',
  vendor_failed: 'Try again later. Nothing was changed.',
  database_unavailable: 'Try again after Retry-After. A change is made completely or not at all.',
  database_full: 'Tell the operator: the project’s database needs room. Reading still works.',
  not_configured: 'Tell the operator which setting is missing: its name is in the response.',
  not_migrated: 'Tell the operator: the database lacks a migration. /healthz shows which one.',
  encryption_key_unavailable:
    'Tell the operator: the deployment lacks the key that the signing secrets were encrypted with.',
  overloaded:
    'Try again after Retry-After, with fewer requests at once. The service is holding as many bodies or payloads as it can, or too many calls are changing the same object.',
  public_origin_missing: 'Tell the operator to set PUBLIC_ORIGIN.',
  internal_error:
    'Try again later. If the error remains, give the request_id to the operator: the cause is in the log.',
}

/** What a caller can do about a failure. */
export function adviceOf(fault: FaultName, periods: Periods): string {
  const advice = ADVICE[fault]
  return typeof advice === 'string' ? advice : advice(periods)
}
