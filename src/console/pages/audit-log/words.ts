import { presetName } from '../../../lib/key-presets'
import { SECOND } from '../../../lib/time'
import type { Difference } from '../../ui/differences'
import { capital, duration, plural, words } from '../../ui/format'
import { vendorTitle } from '../../ui/vendor-titles'
import { FEATURE } from '../features/form'
import { settingsSaid } from '../general/said'
import { type Details, featureSaid, fieldsSaid, keySaid, ssoSaid } from './fields'

type Action = {
  /** What was done, without its object. */
  did: string
  /** What else there is to say about it. */
  more?: (details: Details) => string
  /** Which fields it changed, instead of `more`. */
  changes?: (details: Details) => Difference[]
}

/** The changes in the audit log, by the code that the API gives them, in the order of the filter. */
export const ACTIONS: Record<string, Action> = {
  'project.created': { did: 'Created the project', more: ({ name }) => named(name) },
  'project.renamed': { did: 'Renamed the project', changes: fieldsSaid },
  'project.deleted': { did: 'Deleted the project', more: ({ name }) => named(name) },
  'project.restored': { did: 'Restored the project', more: ({ name }) => named(name) },
  'project.settings_changed': { did: 'Changed a setting', changes: settingsSaid },
  'api_key.minted': {
    did: 'Created an API key',
    more: ({ name, scopes, ...bounds }) =>
      [named(name), (Array.isArray(scopes) && presetName(scopes)) || scopesIn(scopes), boundsSaid(bounds)]
        .filter(Boolean)
        .join(', '),
  },
  'api_key.updated': { did: 'Changed an API key', changes: keySaid },
  'api_key.rotated': {
    did: 'Rotated an API key',
    more: ({ key_prefix, grace_s }) => `new secret ${key_prefix ?? ''}${graceSaid(grace_s, 'secret')}`,
  },
  'api_key.rotation_pending': {
    did: 'Started rotating an API key',
    more: ({ key_prefix, grace_s }) =>
      `new secret ${key_prefix ?? ''}, from its first use${graceSaid(grace_s, 'secret', 'then')}`,
  },
  'api_key.rotation_completed': {
    did: 'Used the new secret of an API key for the first time',
    more: ({ key_prefix, grace_s }) => `the rotation to ${key_prefix ?? ''} is complete${graceSaid(grace_s, 'secret')}`,
  },
  'api_key.pending_secret_ended': {
    did: 'Ended a new secret before its first use',
    more: ({ key_prefix }) => words(key_prefix),
  },
  'api_key.previous_secret_ended': {
    did: 'Ended the old secret of a rotated API key',
    more: ({ key_prefix }) => words(key_prefix),
  },
  'api_key.revoked': {
    did: 'Revoked an API key',
    more: ({ revoked_with, with_member, exposed, key_prefix }) =>
      revoked_with
        ? 'together with the key that received its secret'
        : with_member
          ? 'together with the member who created it'
          : exposed
            ? `because its secret ${key_prefix ?? ''} was exposed`
            : '',
  },
  'api_key.exposed': { did: 'API key reported as exposed', more: ({ key_prefix }) => words(key_prefix) },
  'member.invited': { did: 'Invited someone', more: offered },
  'invitation.resent': { did: 'Resent an invitation', more: offered },
  'invitation.revoked': {
    did: 'Revoked an invitation',
    more: (details) => (details.with_member ? 'because the member who sent it lost their role' : offered(details)),
  },
  'invitation.declined': { did: 'Declined an invitation', more: offered },
  'member.joined': {
    did: 'Joined the project',
    more: (details) => [offered(details), details.sso_connection && 'by single sign-on'].filter(Boolean).join(', '),
  },
  'member.break_glass_given': { did: 'Gave break-glass access to an owner' },
  'member.break_glass_taken': { did: 'Removed break-glass access from an owner' },
  'sso.bypassed': { did: 'Signed in without the enforced single sign-on' },
  'sso_connection.created': { did: 'Created a single sign-on connection', more: ({ issuer }) => words(issuer) },
  'sso_connection.updated': { did: 'Changed a single sign-on connection', changes: ssoSaid },
  'sso_connection.activated': { did: 'Activated a single sign-on connection' },
  'sso_connection.test_started': { did: 'Started a single sign-on test run' },
  'sso_connection.tested': { did: 'Passed a single sign-on test run' },
  'sso_connection.disabled': { did: 'Disabled a single sign-on connection' },
  'sso_connection.deleted': { did: 'Deleted a single sign-on connection' },
  'sso.identity_linked': {
    did: 'Linked a single sign-on identity',
    more: ({ consumer, created }) => `to ${created === true ? 'the new consumer' : 'the consumer'} ${words(consumer)}`,
  },
  'sso_identity.deleted': { did: 'Removed a single sign-on identity' },
  'member.role_changed': {
    did: 'Changed the role of a member',
    more: ({ from, to }) => `from ${words(from)} to ${words(to)}`,
  },
  'member.mail_chosen': { did: 'Changed their email settings for the project', more: ({ mail }) => words(mail) },
  'member.removed': { did: 'Removed a member', more: offered },
  'member.left': { did: 'Left the project', more: offered },
  'consumer.blocked': { did: 'Blocked a consumer', more: reasoned },
  'consumer.unblocked': { did: 'Unblocked a consumer', more: reasoned },
  'consumer.merged': { did: 'Merged a consumer', more: ({ into }) => `into ${words(into)}` },
  'consumer.erased': { did: 'Erased a consumer' },
  'customer.pinned': {
    did: 'Pinned a customer to a consumer',
    more: ({ vendor, consumer }) =>
      `${vendorTitle(String(vendor))}, ${consumer === null ? 'no consumer' : words(consumer)}`,
  },
  'customer.unpinned': { did: 'Unpinned a customer' },
  'device.registered': {
    did: 'Registered a consumer’s key',
    more: ({ token_prefix, scopes }) => [words(token_prefix), scopesIn(scopes)].filter(Boolean).join(', '),
  },
  'device.updated': { did: 'Changed a device', more: ({ fields }) => words(fields) },
  'device.rotated': {
    did: 'Rotated a device token',
    more: ({ token_prefix, grace_s }) => `new token ${token_prefix ?? ''}${graceSaid(grace_s, 'token')}`,
  },
  'device.rotation_pending': {
    did: 'Started rotating a device token',
    more: ({ token_prefix, grace_s }) =>
      `new token ${token_prefix ?? ''}, from its first use${graceSaid(grace_s, 'token', 'then')}`,
  },
  'device.rotation_completed': {
    did: 'Verified a new device token for the first time',
    more: ({ token_prefix, grace_s }) =>
      `the rotation to ${token_prefix ?? ''} is complete${graceSaid(grace_s, 'token')}`,
  },
  'device.pending_token_ended': {
    did: 'Ended a new device token before its first use',
    more: ({ token_prefix }) => words(token_prefix),
  },
  'device.previous_token_ended': {
    did: 'Ended an old device token',
    more: ({ token_prefix }) => words(token_prefix),
  },
  'device.revoked': {
    did: 'Revoked a device',
    more: ({ replaced_by, exposed }) =>
      replaced_by ? `to make room for ${words(replaced_by)}` : exposed ? 'because its token was exposed' : '',
  },
  'device.exposed': { did: 'Device token reported as exposed' },
  'feature.created': { did: 'Created a feature', changes: ({ type }) => FEATURE.said({ type }) },
  'feature.updated': { did: 'Changed a feature', changes: featureSaid },
  'feature.deleted': { did: 'Deleted a feature' },
  'plan.created': { did: 'Created a plan', changes: ({ key }) => fieldsSaid({ key }) },
  'plan.updated': { did: 'Changed a plan', more: ({ fields }) => namesOf(fields) },
  'grant.created': { did: 'Created a grant', more: granted },
  'grant.revoked': { did: 'Revoked a grant', more: granted },
  'entitlement_key.rotated': {
    did: 'Rotated the entitlement token key',
    more: ({ compromised }) => (compromised === true ? 'replaced all keys, because others may know them' : ''),
  },
  'domain.added': { did: 'Added a domain', more: domainNamed },
  'domain.verified': { did: 'Verified a domain', more: domainNamed },
  'domain.record_missing': { did: 'DNS record of a domain is missing', more: domainNamed },
  'domain.failed': { did: 'Domain verification failed', more: domainNamed },
  'domain.taken_over': { did: 'Lost a domain to another project', more: domainNamed },
  'domain.retried': { did: 'Retried a domain', more: domainNamed },
  'domain.deleted': { did: 'Deleted a domain', more: domainNamed },
  'connection.created': {
    did: 'Connected a vendor',
    more: ({ vendor, name }) => [vendor && vendorTitle(String(vendor)), named(name)].filter(Boolean).join(', '),
  },
  'connection.updated': { did: 'Changed a connection', changes: fieldsSaid },
  'connection.deleted': { did: 'Deleted a connection' },
  'connection.secret_added': { did: 'Added a signing secret' },
  'connection.secret_removed': { did: 'Removed a signing secret' },
  'connection.verification_set': { did: 'Set how deliveries are verified' },
  'connection.test_event_sent': { did: 'Sent a test event', more: ({ type }) => words(type) },
  'connection.failures_muted': { did: 'Muted failed events with one cause', more: muted },
  'connection.failures_unmuted': {
    did: 'Unmuted failed events with one cause',
    more: ({ error_code }) => words(error_code),
  },
  'connection.refusals_muted': { did: 'Muted refused deliveries with one cause', more: muted },
  'connection.refusals_unmuted': { did: 'Unmuted refused deliveries with one cause', more: ({ code }) => words(code) },
  'connection.api_key_set': { did: 'Set a vendor’s API key' },
  'connection.api_key_removed': { did: 'Removed a vendor’s API key' },
  'connection.endpoint_set': {
    did: 'Set up the webhook endpoint at a vendor',
    more: ({ did, endpoint }) => [words(did), words(endpoint)].filter(Boolean).join(', '),
  },
  'import.started': { did: 'Started an import from a vendor' },
  'import.canceled': { did: 'Canceled an import from a vendor' },
  'webhook_endpoint.created': { did: 'Created a webhook endpoint', more: ({ url }) => words(url) },
  'webhook_endpoint.updated': { did: 'Changed a webhook endpoint', changes: fieldsSaid },
  'webhook_endpoint.deleted': { did: 'Deleted a webhook endpoint' },
  'webhook_endpoint.disabled': {
    did: 'Disabled a webhook endpoint',
    more: ({ reason }) => (reason === 'gone' ? 'it responded with 410' : 'all deliveries failed for days'),
  },
  'webhook_endpoint.secret_added': { did: 'Added a secret to a webhook endpoint' },
  'webhook_endpoint.secret_removed': { did: 'Removed a secret from a webhook endpoint' },
  'webhook_endpoint.resent': { did: 'Resent changes to a webhook endpoint' },
  'event.replayed': { did: 'Replayed an event' },
  'events.replayed': {
    did: 'Replayed events',
    more: ({ matched }) => (typeof matched === 'number' ? `${plural(matched, 'event')} matched` : ''),
  },
}

/** The names of fields. */
function namesOf(fields: unknown): string {
  return Array.isArray(fields) ? capital(fields.map(words).join(', ')) : ''
}

/** Where an API key may be used from, and how often. */
function boundsSaid({ allowed_networks: networks, rate_limit }: Details): string {
  const from = networks === null ? 'anywhere' : Array.isArray(networks) ? networks.join(', ') : words(networks)
  const limit = rate_limit === null ? 'no rate limit of its own' : `at most ${words(rate_limit)} requests per minute`
  const said = [networks !== undefined && `allowed from ${from}`, rate_limit !== undefined && limit]
  return said.filter(Boolean).join(', ')
}

/** How long the replaced secret works once the new one is current. */
function graceSaid(grace_s: unknown, what: 'secret' | 'token', from: 'now' | 'then' = 'now'): string {
  if (typeof grace_s !== 'number') return ''
  const then = from === 'then' ? 'after that, ' : ''
  return `; ${then}the old ${what} keeps working for ${duration(grace_s * SECOND)}`
}

function domainNamed({ hostname, purpose }: Details): string {
  return `${words(hostname)}, for ${purpose === 'sso' ? 'single sign-on' : 'pages'}`
}

/** What an entry says was done, more about it, and which fields it changed. An action that is not listed is shown by its code. */
export function saidOf({ action, details }: { action: string; details: Details | null }) {
  const known = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
  if (!known) return { did: action, more: details === null ? '' : words(details), changes: [] }
  const { did, more, changes } = known
  return { did, more: (details && more?.(details)) ?? '', changes: (details && changes?.(details)) ?? [] }
}

/** The address and the role of an entry about a member or an invitation. */
function offered({ email, role }: Details): string {
  return [email, role].filter((part) => typeof part === 'string').join(', ')
}

/** Which cause was muted, and until when. */
function muted({ error_code, code = error_code, until }: Details): string {
  return `${words(code)}, ${until === null ? 'until someone unmutes it' : `until ${words(until)}`}`
}

function reasoned({ reason }: Details): string {
  return named(reason)
}

/** What a grant gives or denies. `gives`: in words, if the grant is still stored. */
function granted({ gives, effect, feature, plan }: Details): string {
  return words(gives ?? `${effect === 'deny' ? 'Denied ' : ''}${words(feature ?? plan)}`)
}

/** What a grant is called: `Team for Ada Lovelace`. @param consumer what they are called, if that is known */
export function grantTitle(gives: string, consumer: string | undefined): string {
  return consumer === undefined ? gives : `${gives} for ${consumer}`
}

function named(name: unknown): string {
  return typeof name === 'string' ? `“${name}”` : ''
}

function scopesIn(scopes: unknown): string {
  return Array.isArray(scopes) ? plural(scopes.length, 'scope') : ''
}
