import { audited, type Change } from '../../audit/store'
import { batch, run } from '../../db/client'
import type { Runtime } from '../../env'
import { invalidField } from '../../http/validate'
import { randomHex } from '../../lib/crypto'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { type EndpointFacts, isOldVersion, type WantedEndpoint } from '../../vendors/endpoints'
import { sealedSecret } from '../connections/connect'
import { type ConnectionRow, inboxConnectionEntry, readConnection } from '../connections/connection'
import { MAX_SECRETS } from '../connections/limits'
import { requireSealingKey } from '../connections/sealing'
import { addSecret, secretLimitReached } from '../connections/secrets'
import type { ConnectionPlace } from '../of-connection'
import { takeEffect } from '../receive/known-connections'
import { type EndpointAccount, requireListed } from './ask'
import { createAtVendor, mendAtVendor, removeAtVendor } from './create'
import { type ExpectedEndpoint, isMarked, type OwnEndpoint, sortEndpoints } from './find-own'
import { endpointFindings } from './findings'
import { MAX_SET_UPS, OWN_SECRET_BYTES } from './limits'
import { expectedOf, isPublicUrl, requireEndpoints } from './open'
import { type EnteredKey, openAccount } from './open-account'
import type { EndpointResult } from './schema'
import { endpointChecked } from './store'

/** What a setup did, the endpoint as it is now, and what is still wrong with it. */
export type SetUp = EndpointResult & {
  did: 'created' | 'updated' | 'unchanged'
  dry_run: boolean
  facts: EndpointFacts | null
  /** The vendor's name. */
  vendor: string
}

/** `url`: the ingest URL. `events`: the types that the billing state needs, or all types of the vendor. `dry_run`: changes nothing at the vendor. */
type Asked = EnteredKey & { events: 'needed' | 'all'; url: string; dry_run: boolean }

/**
 * Creates the endpoint of a connection at its vendor, or repairs it, with a key that is used only for this and not stored. Repeating it changes
 * nothing. If a call ends in between, the next one completes it: an endpoint is marked as ours when it is made, and one whose secret was not
 * stored is removed. A dry run only says what would be done, and what is wrong now.
 *
 * @throws {Fault} `not_found`, `validation_failed`, `vendor_endpoint_unsupported`, `ingest_url_not_public`, `api_key_invalid`, `api_key_too_powerful`,
 *   `api_key_other_mode`, `api_key_lacks_permission`, `vendor_endpoint_limit`, `secret_limit_reached`, `connection_changed`, `vendor_failed`,
 *   `encryption_key_unavailable`
 */
export async function setUpEndpoint(
  rt: Runtime,
  of: ConnectionPlace,
  { events, url, dry_run, ...entered }: Asked,
  change: Change,
): Promise<SetUp> {
  const { vendor, livemode } = await readConnection(rt.db, of.project_id, of.connection_id)
  const api = requireEndpoints(vendor)
  if (events === 'all' && api.all === null)
    throw invalidField('/events', 'not_one_of', `must be needed for ${api.vendor}, which has no name for all types`)
  if (!isPublicUrl(url))
    throw new Fault(
      'ingest_url_not_public',
      `${api.vendor} cannot reach the ingest URL: it must begin with https:// and a public host name. The operator sets this with PUBLIC_ORIGIN.`,
    )
  await requireSealingKey(rt)
  const account = await openAccount(rt, api, entered, livemode)
  for (let attempt = 0; attempt < MAX_SET_UPS; attempt++) {
    // Another call may change the connection in between. Then the setup starts over.
    const connection = await readConnection(rt.db, of.project_id, of.connection_id)
    const expected = await expectedOf(rt, connection, url)
    const work = { rt, account, connection, expected, all: events === 'all', change }
    const done = dry_run ? await rehearse(work) : await setUp(work)
    if (done) return done
  }
  throw new Fault('connection_changed', 'Other calls changed the connection at the same time. Try again.')
}

type Work = {
  rt: Runtime
  account: EndpointAccount
  connection: ConnectionRow
  expected: ExpectedEndpoint
  all: boolean
  change: Change
}

/** @returns null if the connection or the endpoint has changed meanwhile */
async function setUp(work: Work): Promise<SetUp | null> {
  const found = await find(work)
  return found.kept ? mend(work, found.kept, found) : create(work, found)
}

/** Says what {@link setUp} would do, and keeps what is wrong now. */
async function rehearse(work: Work): Promise<SetUp> {
  const { rt, account, connection, expected } = work
  const { kept, spare, endpoints, thin } = await find(work)
  const found = endpointFindings(account.api, endpoints, expected, thin)
  await run(rt.db, endpointChecked(rt.db, placeOf(connection), found, rt.now))
  const changes = spare.length > 0 || (kept !== null && isDifferent(kept, wantedOf(work, kept.secret_id, kept.events)))
  const did = kept === null ? 'created' : changes ? 'updated' : 'unchanged'
  return { ...found, did, dry_run: true, vendor: account.api.vendor }
}

/**
 * The endpoints of the account. `kept`: the one to mend; null if a new one is needed. `spare`: those of ours to remove. `replaced`: one of ours to
 * remove once the new one works.
 */
type Found = {
  endpoints: readonly EndpointFacts[]
  thin: readonly string[]
  kept: OwnEndpoint | null
  spare: readonly EndpointFacts[]
  replaced: readonly EndpointFacts[]
}

async function find({ account, expected }: Work): Promise<Found> {
  const listed = await requireListed(account, expected.url)
  const { own, left } = sortEndpoints(listed.endpoints, expected)
  const [first = null] = own
  // One that people made by hand stays: the finding says that there are two.
  const spare = [...own.slice(1).filter((one) => isMarked(one, expected)), ...left]
  if (!first || !isOldVersion(account.api, first.api_version)) return { ...listed, kept: first, spare, replaced: [] }
  return { ...listed, kept: null, spare, replaced: isMarked(first, expected) ? [first] : [] }
}

async function mend(work: Work, kept: OwnEndpoint, { endpoints, spare }: Found): Promise<SetUp | null> {
  const { account, expected } = work
  const wanted = wantedOf(work, kept.secret_id, kept.events)
  let now: EndpointFacts = kept
  const differs = isDifferent(kept, wanted)
  if (differs) {
    const mended = await mendAtVendor(account, kept, { wanted, endpoints })
    if (!mended) return null
    now = mended
  }
  await removeAtVendor(account, spare)
  const did = differs || spare.length > 0 ? 'updated' : 'unchanged'
  return finish(work, did, { now, before: without(endpoints, [kept, ...spare]), expected })
}

async function create(work: Work, { endpoints, spare, replaced }: Found): Promise<SetUp | null> {
  const { rt, account, connection, change } = work
  const { project_id, id } = connection
  if (connection.secrets.length >= MAX_SECRETS) throw secretLimitReached()
  const secret_id = newId('sec', rt.now)
  const own = account.api.secretOf?.(randomHex(OWN_SECRET_BYTES)) ?? null
  const made = await createAtVendor(account, { ...wantedOf(work, secret_id, []), secret: own }, { spare, endpoints })
  const details = { did: 'created', endpoint: made.endpoint.id, secret_id }
  const entry = inboxConnectionEntry(project_id, id, 'connection.endpoint_set', details)
  let stored: ConnectionRow | null = null
  try {
    const secret = await sealedSecret(rt, connection, { id: secret_id, text: made.secret }, change)
    stored = await addSecret(rt.db, connection, { secret, entry }, change)
  } finally {
    // Nothing that it sends could be verified.
    if (!stored) await removeAtVendor(account, [made.endpoint])
  }
  if (!stored) return null
  await takeEffect(id)
  const former = [...spare, ...replaced]
  await removeAtVendor(account, former)
  const expected = await expectedOf(rt, stored, work.expected.url)
  return finish(work, 'created', { now: made.endpoint, before: without(endpoints, former), expected })
}

/** What is still wrong. If something has changed, it is stored with the entry of the audit log. */
async function finish(
  { rt, account, connection, change }: Work,
  did: SetUp['did'],
  { now, before, expected }: { now: EndpointFacts; before: readonly EndpointFacts[]; expected: ExpectedEndpoint },
): Promise<SetUp> {
  const { project_id, id } = connection
  const found = endpointFindings(account.api, [now, ...before], expected)
  const kept = endpointChecked(rt.db, placeOf(connection), found, rt.now)
  const entry = inboxConnectionEntry(project_id, id, 'connection.endpoint_set', { did, endpoint: now.id })
  // The entry of a new endpoint was written together with its secret.
  if (did === 'updated') await batch(rt.db, audited(rt.db, change, entry, kept))
  else await run(rt.db, kept)
  return { ...found, did, dry_run: false, vendor: account.api.vendor }
}

function placeOf({ project_id, id }: ConnectionRow): ConnectionPlace {
  return { project_id, connection_id: id }
}

/** @param secret the id of the signing secret @param events the types that it sends already */
function wantedOf(
  { account: { api, owner }, expected, all }: Work,
  secret: string,
  events: readonly string[],
): WantedEndpoint {
  const some = events.length === 0 ? [...api.needed, ...api.useful] : [...new Set([...events, ...api.needed])]
  const every = api.all !== null && (all || events.includes(api.all)) ? [api.all] : some
  return { ...owner, url: expected.url, events: every, mark: { connection: expected.id, secret }, secret: null }
}

function isDifferent(endpoint: EndpointFacts, { url, events, mark }: WantedEndpoint): boolean {
  return (
    endpoint.url !== url ||
    !endpoint.enabled ||
    endpoint.mark?.connection !== mark.connection ||
    endpoint.mark.secret !== mark.secret ||
    events.some((type) => !endpoint.events.includes(type))
  )
}

function without(endpoints: readonly EndpointFacts[], some: readonly EndpointFacts[]): EndpointFacts[] {
  return endpoints.filter(({ id }) => !some.some((one) => one.id === id))
}
