import type { ProjectPaths } from '../paths'

/** Messages shown after a redirect. The address carries a name from this list, never the text itself. */
const NOTICES = {
  signed_out: 'You are signed out.',
  session_ended: 'The session has ended.',
  your_session_ended: 'Your session ended. Sign in to continue where you were.',
  sessions_ended: 'All your other sessions have ended.',
  project_emails_saved: 'Your email settings for this project were saved.',
  notices_saved: 'Your security email settings were saved.',
  account_deleted: 'Your account was deleted.',
  signed_out_everywhere: 'You are signed out everywhere.',
  confirmed: 'You have confirmed your identity. Now repeat what you were doing.',
  passkey_added: 'The passkey was added. You can now sign in with it.',
  passkey_renamed: 'The passkey was renamed.',
  passkey_deleted: 'The passkey was deleted. You can no longer sign in with it.',
  codes_renewed_before:
    'Nothing was changed: new recovery codes were generated after you opened the form. They were shown once. If you did not store them, generate new ones again.',
  second_factor: 'You have confirmed your second factor for this session.',
  settings_changed: 'The setting was changed.',
  project_created: 'The project was created.',
  project_renamed: 'The project was renamed.',
  project_deleted: 'The project was deleted. An owner can still undo this: see “Deleted projects”.',
  project_restored: 'The project was restored. Its ingest URLs may take a minute to work again.',
  key_created_before:
    'This key already exists, and no second key was created. Its secret was shown once. If nobody stored it, rotate the key to get a new one.',
  key_rotated_before:
    'Nothing was changed: the key has been rotated or revoked since you opened the form. A new secret is shown once. If nobody stored it, rotate the key again.',
  key_updated: 'The API key was changed.',
  pending_secret_ended: 'The new secret can no longer be used. The current secret did not change.',
  previous_secret_ended: 'The old secret no longer works.',
  key_revoked: 'The API key was revoked and no longer works.',
  keys_revoked: 'The API key, and the keys whose secrets it had received, were revoked and no longer work.',
  chosen_keys_revoked: 'The selected API keys were revoked and no longer work.',
  chosen_keys_revoked_partly:
    'The selected API keys of this project no longer work. Some of the selected keys were already revoked, or are not in this project.',
  role_changed: 'The role was changed. It takes effect with the next request of the member.',
  member_removed: 'The member was removed and no longer has access.',
  member_removed_with_keys:
    'The member was removed. The API keys that they created, or whose secret they received, were revoked.',
  invited: 'The invitation was created. Its email is on its way.',
  invited_locally: 'The invitation was created. No email is sent: its link is in the terminal where npm start runs.',
  invitation_resent: 'The invitation was renewed. Its email is on its way.',
  invitation_resent_locally:
    'The invitation was renewed. No email is sent: its link is in the terminal where npm start runs.',
  invitation_revoked: 'The invitation was revoked and can no longer be accepted.',
  invitation_accepted: 'You are now a member of this project.',
  invitation_declined: 'You declined the invitation.',
  project_left: 'You left the project.',
  consumer_created: 'The consumer was created.',
  consumer_changed: 'The consumer was changed.',
  consumer_blocked: 'The consumer was blocked.',
  consumer_unblocked: 'The consumer is active again.',
  consumer_merged: 'The consumers were merged into this one.',
  consumer_erased: 'The consumer was erased. Data from vendors about its customers is being deleted.',
  device_revoked: 'The device was revoked. Its token is no longer valid.',
  device_changed: 'The key was changed.',
  device_rotated_before:
    'The key was already rotated, and its new token was shown once. If nobody stored it, rotate the key again.',
  pending_token_ended: 'The new token can no longer be used. The current token did not change.',
  previous_token_ended: 'The old token is no longer valid.',
  identity_removed: 'The identity was removed. The person’s next sign-in is treated as their first.',
  domain_added: 'The domain was added. Add its TXT record to your DNS. We check it in a minute.',
  domain_checked: 'The domain was checked.',
  domain_deleted: 'The domain was deleted.',
  chosen_customers_linked: 'The selected customers are linked to their consumers.',
  chosen_customers_without_consumer:
    'The selected customers are marked as having no consumer. Events do not change this.',
  chosen_customers_changed_partly:
    'Some of the selected customers were not changed: they were linked in the meantime, or their consumer was. Check those that are still listed.',
  customer_linked: 'The customer is linked to this consumer.',
  customer_without_consumer: 'The customer is marked as having no consumer. Events do not change this.',
  customer_refreshed: 'The customer, its subscriptions and its newest invoices are now up to date with the vendor.',
  customer_refreshed_partly:
    'Only part of the customer was refreshed: the vendor’s response was incomplete, or something changed at the same time. You can refresh again.',
  customer_not_refreshed:
    'The vendor did not send a usable response, so nothing was changed. Check the connection’s API key, or try again.',
  customer_unpinned: 'The customer was unpinned. Events decide again which consumer it is linked to.',
  feature_created: 'The feature was created. You can now include it in plans and grants.',
  feature_changed: 'The feature was changed.',
  feature_deleted: 'The feature was deleted.',
  plan_created: 'The plan was created. Nobody has it until a price is mapped to it, or until it is granted.',
  plan_changed: 'The plan was changed. The change already applies to everyone on the plan.',
  grant_created: 'The grant was created. The entitlements below include it.',
  grant_revoked: 'The grant was revoked and no longer applies.',
  connection_updated: 'The connection was updated.',
  connection_deleted: 'The connection was deleted. Its events are kept.',
  secret_added: 'The signing secret was added.',
  secret_removed: 'The signing secret was removed.',
  verification_set: 'The verification was saved. It applies from the next delivery.',
  api_key_set: 'The API key was checked and stored.',
  api_key_removed: 'The API key was removed.',
  vendor_endpoint_created: 'The webhook endpoint was created at the vendor, and its signing secret was stored.',
  vendor_endpoint_updated: 'The webhook endpoint at the vendor was repaired.',
  vendor_endpoint_unchanged: 'The webhook endpoint at the vendor is already correct.',
  vendor_endpoint_checked: 'The webhook endpoint was checked.',
  test_event_sent: 'This is your test event. It was signed, received and recorded like an event from the vendor.',
  cause_muted: 'The cause is muted. What it covers is still counted.',
  cause_unmuted: 'The cause is no longer muted.',
  import_started: 'The import was started.',
  import_canceled: 'The import was canceled. What it already recorded is kept.',
  sso_created:
    'The connection was created as a draft. Enter its redirect URI at your provider, test it, and activate it.',
  sso_updated: 'The connection was changed.',
  sso_unchanged: 'You did not change anything in the form. These are the current settings.',
  sso_activated: 'The connection is active. People can sign in with it.',
  sso_disabled: 'The connection is disabled, and its sessions have ended.',
  sso_enforced: 'Members must now sign in with this connection.',
  sso_released: 'Members can sign in with a code or a passkey again.',
  sso_deleted: 'The connection was deleted.',
  break_glass_given: 'The owner can sign in without single sign-on while it is enforced.',
  break_glass_taken: 'The owner no longer has break-glass access.',
  endpoint_created_before:
    'This endpoint already exists, and no second one was created. Its secret was shown once. If nobody stored it, add another secret.',
  endpoint_updated: 'The endpoint was changed.',
  endpoint_disabled: 'The endpoint is disabled. We send nothing to it.',
  endpoint_enabled: 'The endpoint is active. Delivery resumes where it stopped.',
  endpoint_deleted: 'The endpoint was deleted. We no longer send to it.',
  endpoint_secret_added_before:
    'Nothing was changed: the secrets have changed since you opened the page. A new secret is shown once. If nobody stored it, remove it and add another one.',
  endpoint_secret_removed: 'The secret was removed. Requests are no longer signed with it.',
  changes_resent: 'The changes will be sent again in a moment.',
  no_event_chosen: 'Select events in the list first.',
  nothing_to_replay: 'Nothing was replayed: all matching events are already waiting to be processed.',
}
export type NoticeName = keyof typeof NOTICES

/** @param props.paths of the project that the page belongs to */
export function Notice({ name, paths }: { name: NoticeName | undefined; paths: ProjectPaths | null }) {
  if (name === undefined || !Object.hasOwn(NOTICES, name)) return null
  return (
    <p class="notice" role="status">
      {NOTICES[name]}
      {name === 'test_event_sent' && paths && (
        <>
          {' '}
          The <a href={paths.start}>overview</a> shows what comes next.
        </>
      )}
    </p>
  )
}
