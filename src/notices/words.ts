import { MAX_LISTED } from './limits'
import type { NoticeFacts, NoticeKind } from './schema'

/** What emails and the console say of a notice. `page`: the page of the project where something can be done about it. */
export type NoticeWords = { title: string; says: string; page: string }

type Of = { kind: NoticeKind; object_id: string; facts: NoticeFacts; opened_at: number }

const text = (value: unknown) => (value === null || value === undefined ? '' : String(value))
/** Where a key was last used from, as far as it is known. */
function from({ country, user_agent }: NoticeFacts): string {
  return [country && ` from ${country}`, user_agent && ` by ${user_agent}`].filter(Boolean).join('')
}
const keyPage = (id: string) => `platform/settings/api-keys/${id}`
const connectionPage = (id: string) => `platform/billing/connections/${id}`
const endpointPage = (id: string) => `platform/webhook-endpoints/${id}`

const WORDS: Record<NoticeKind, (of: Of) => NoticeWords> = {
  key_exposed: ({ object_id, facts }) => {
    const isKey = facts.object === 'api_key'
    const prefix = isKey ? facts.key_prefix : facts.token_prefix
    const what = `${isKey ? `The API key ${text(facts.name)}` : `The device ${object_id}`}${prefix ? ` (${prefix})` : ''}`
    const where = facts.url ? ` It was found at ${text(facts.url)}.` : ''
    const earlier = facts.earlier
      ? ` Other secrets were reported earlier: ${text(facts.earlier).trim().replaceAll(' ', ', ')}.`
      : ''
    const then = facts.ended
      ? `It was revoked.${isKey ? ' If someone may have used it, also revoke the keys that were rotated with it.' : ''}`
      : 'It still works, because of the project’s setting for exposed secrets. Replace it.'
    return {
      title: isKey ? 'An API key was exposed' : 'A device token was exposed',
      says: `${what} was reported as exposed: others could read its secret.${earlier} ${then}${where}`,
      page: isKey ? keyPage(object_id) : `platform/consumers/${text(facts.consumer)}`,
    }
  },
  key_expiring: ({ object_id, facts }) => ({
    title: 'An API key is about to expire',
    says: `The API key ${text(facts.name)} (${text(facts.key_prefix)}) expires at ${text(facts.expires_at)}, and was last used at ${text(facts.last_used_at)}${from(facts)}. Create a new key and deploy it to your servers before then.`,
    page: keyPage(object_id),
  }),
  connection_degraded: ({ object_id, facts }) => ({
    title: 'A connection refuses every delivery',
    says: `The connection ${text(facts.name)} refused ${text(facts.refused)} deliveries in 15 minutes, and accepted none. Check its signing secrets.`,
    page: connectionPage(object_id),
  }),
  events_failing: ({ object_id, facts }) => ({
    title: 'Events are failing',
    says: `${text(facts.failed)} events from the connection ${text(facts.name)}, received within one hour, could not be processed.`,
    page: connectionPage(object_id),
  }),
  connection_silent: ({ object_id, facts }) => ({
    title: 'A connection has gone silent',
    says: `The connection ${text(facts.name)} has accepted no deliveries since ${text(facts.since)}. It has not been quiet for this long at this time of the week before. Check in the vendor’s dashboard that its webhook endpoint still exists and is enabled.`,
    page: connectionPage(object_id),
  }),
  renewals_missing: ({ facts }) => ({
    title: 'Renewals are missing',
    says: `${text(facts.overdue)} of the ${text(facts.due)} ${text(facts.vendor)} subscriptions that should have renewed in the last week are overdue: we have received nothing about them since their period ended. They will soon lose access. Check whether their events were sent, and resend or import what is missing.`,
    page: 'platform/billing/subscriptions?overdue=true',
  }),
  format_changed: ({ object_id, facts }) => ({
    title: 'The format of a vendor’s events has changed',
    says: formatSays(facts),
    page: `${connectionPage(object_id)}#format`,
  }),
  endpoint_failing: ({ object_id, facts }) => ({
    title: 'A webhook endpoint is failing',
    says: `${endpointSays(facts)} No delivery to it has succeeded since ${text(facts.failing_since)}.`,
    page: endpointPage(object_id),
  }),
  endpoint_disabling: ({ object_id, facts }) => ({
    title: 'A webhook endpoint will be disabled',
    says: `${endpointSays(facts)} No delivery to it has succeeded since ${text(facts.failing_since)}. If this continues, it will be disabled within a day, and no more changes will be sent to it.`,
    page: endpointPage(object_id),
  }),
  endpoint_disabled: ({ object_id, facts }) => ({
    title: 'A webhook endpoint was disabled',
    says: `${endpointSays(facts)} We send no more changes to it until you enable it.`,
    page: endpointPage(object_id),
  }),
}

function formatSays({ name, version, fields, vanished, words, unknown }: NoticeFacts): string {
  const from = version ? ` (version ${text(version)})` : ''
  const lost = vanished ? ` They no longer have values in: ${listedIn(fields, vanished)}.` : ''
  const what = unknown === 1 ? 'a value' : `${text(unknown)} values`
  const which = words ? `: ${listedIn(words, unknown)}` : ''
  const strange = unknown ? ` They contain ${what} that this service does not recognize${which}.` : ''
  return `Events from the connection ${text(name)} have changed${from}.${lost}${strange} The connection’s page compares them with earlier ones.`
}

/** What a fact lists, and how many more there are. */
function listedIn(list: NoticeFacts[string] | undefined, all: NoticeFacts[string] | undefined): string {
  const more = Number(all) - MAX_LISTED
  return `${text(list)}${more > 0 ? `, and ${more} more` : ''}`
}

function endpointSays({ url, change, status, error, answer }: NoticeFacts): string {
  const what = status === null ? `there was no response (${text(error)})` : `the response was ${text(status)}`
  const said = answer ? `: “${text(answer)}”` : ''
  const when = change === 0 ? 'the message about missing changes' : `change ${text(change)}`
  return `${text(url)}: when ${when} was sent, ${what}${said}.`
}

/** What people are told of a notice. */
export function noticeWords(of: Of): NoticeWords {
  return WORDS[of.kind](of)
}
