/*
 * npm run send -- FOLDER --vendor V: signs every *.json file in a folder as the vendor does, sends the exact bytes,
 * waits, and prints the result of each event. To a connection whose events it may not read, it only sends them.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectPaths } from '../src/console/paths.ts'
import { PRESETS } from '../src/vendors/presets.ts'
import type { PresetName } from '../src/vendors/verification.ts'
import { printBilling } from './lib/billing-table.ts'
import { awaitFinal, deliver, type Inbox, isReceipt, refusal, type Target } from './lib/deliver.ts'
import { misused, readFlags } from './lib/flags.ts'
import { writeExample } from './lib/generated.ts'
import { localInboxes } from './lib/inbox.ts'
import { reportReceipts, reportSent, type Sent } from './lib/report.ts'
import { serverUrl } from './lib/running.ts'
import { eventIdOf, isSignedVendor, SIGNED_VENDORS } from './lib/sign.ts'
import { LOCAL_USER } from './lib/sign-in.ts'
import { fail, progress, run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run send -- FOLDER --vendor VENDOR [OPTIONS]\n       npm run send -- --example --vendor VENDOR [OPTIONS]',
  about: `Signs every *.json file in a folder as the vendor would, sends it, waits, and prints the result of each event.
Vendors: ${SIGNED_VENDORS.join(', ')}.
Presets of hmac: ${Object.keys(PRESETS).join(', ')}.`,
  flags: {
    vendor: { type: 'string', takes: 'VENDOR', help: 'the vendor of the events' },
    preset: { type: 'string', takes: 'NAME', help: 'with --vendor hmac: the sender to sign as (default: github)' },
    example: { type: 'boolean', help: 'instead of a folder: send one small example event of the vendor' },
    url: { type: 'string', takes: 'URL', help: 'the server (default: the one that npm start runs in this checkout)' },
    wait: { type: 'string', takes: 'SECONDS', help: 'how long to wait for the last event', default: '120' },
    fresh: { type: 'boolean', help: 'send to a new connection even if one exists' },
    'signing-secret': { type: 'string', takes: 'SECRET', help: 'sign with this secret (default: a random one)' },
    connection: { type: 'string', takes: 'ID', help: 'an existing connection; also needs --signing-secret' },
    token: { type: 'string', takes: 'TOKEN', help: 'an API key or session that may read its events, to print results' },
    project: { type: 'string', takes: 'ID', help: 'the project of the connection; needed with --token' },
  },
  positionals: true,
  notes: `To a local server the first options are enough: it makes a project "Local" of ${LOCAL_USER}, with connections. To any
other one give --connection and --signing-secret; with --token and --project too, it waits for the results.

Shopify says in a header what happened, not in the body: a file is sent under the topic in its name, orders-paid.json (or
orders-paid.2.json) as orders/paid. Adyen signs each item inside the body, so the script adds the signatures to the file
before it sends it. Braintree is not supported, because it sends forms, not JSON. Apple and PayPal are not,
because they sign with keys of their own.`,
} as const
const CONCURRENCY = 8

type Args = ReturnType<typeof readArgs>
/** A file and the number of the connection it goes to, from 0. */
type Parcel = { file: string; body: Buffer<ArrayBuffer>; lane: number }

await run(async () => {
  const args = readArgs()
  const parcels = args.folder === null ? readExample(args) : readFolder(args.folder, args.vendor)
  const target = targetOf(args)
  if (target && args.token === undefined) return sendOnly(target, args, parcels)
  const lanes = Math.max(...parcels.map(({ lane }) => lane)) + 1
  const inboxes = await openInboxes(target, args, lanes)
  const [first] = inboxes
  if (!first) throw new Error('connection not found')
  announce(first, args, parcels)
  if (inboxes.length > 1) {
    const shared = parcels.filter(({ lane }) => lane > 0).length
    console.log(`${shared} of them have the same event id as another file but different content. One connection would treat them
as duplicates, so they go to ${inboxes.length - 1} more connections in project ${first.project}`)
  }
  const startedAt = Date.now()
  const sent = await sendAll(inboxes, parcels)
  const ids = [...new Set(sent.flatMap((one) => one.ids))]
  const events = await awaitFinal(first, ids, args.wait * 1000, progress('final', ids.length))
  const paths = projectPaths(first.project)
  const connection =
    args.connection === undefined ? null : `${first.url}${paths.connections}/${first.connection}#refused`
  const identical = reportSent(sent, events, { ms: Date.now() - startedAt, connection })
  await printBilling(first, events.values())
  const who = args.connection === undefined ? ` (sign in as ${LOCAL_USER}; npm start prints the code)` : ''
  console.log(`\nIn the console: ${first.url}${paths.events}${who}`)
  if (!identical) process.exitCode = 1
})

function readArgs() {
  const { values, positionals } = readFlags(COMMAND)
  const [folder, ...more] = positionals
  const { vendor, preset, connection, token, project, fresh, example = false } = values
  if (example === (folder !== undefined)) misused(COMMAND, 'Name a folder, or --example')
  if (more.length > 0) misused(COMMAND, `One folder at a time, not ${positionals.join(' and ')}`)
  if (vendor === 'braintree') fail('Braintree sends forms, signed inside: there is no *.json to send.')
  if (vendor === 'apple')
    fail('Only Apple can sign its notifications. Its App Store Server API sends test notifications.')
  if (vendor === 'paypal') fail('Only PayPal can sign its deliveries. Make a payment in its sandbox instead.')
  if (!isSignedVendor(vendor)) {
    misused(COMMAND, vendor === undefined ? '--vendor is missing' : `Unknown vendor ${vendor}`)
  }
  if (preset !== undefined && vendor !== 'hmac') misused(COMMAND, '--preset is for --vendor hmac')
  if (preset !== undefined && !Object.hasOwn(PRESETS, preset)) misused(COMMAND, `Unknown preset ${preset}`)
  const wait = Number(values.wait)
  if (!(wait > 0)) fail(`--wait takes seconds, not ${values.wait}.`)
  const url = serverUrl(values.url)
  return {
    folder: folder ?? null,
    wait,
    vendor,
    preset: preset as PresetName | undefined,
    url,
    connection,
    secret: values['signing-secret'],
    token,
    project,
    fresh,
  }
}

/**
 * The files in the order of their names. Vendors never reuse an event id, but folders of examples do: a file with the
 * event id of another file and different bytes goes to another connection, where it is not a duplicate.
 */
function readFolder(folder: string, vendor: Args['vendor']): Parcel[] {
  if (!existsSync(folder)) fail(`Folder ${folder} not found.`)
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
  if (files.length === 0) fail(`${folder} contains no *.json files.`)
  const taken = new Map<string, Buffer[]>()
  return files.map((file) => {
    const body = readFileSync(join(folder, file))
    const id = eventIdOf(vendor, body)
    if (id === null) return { file, body, lane: 0 }
    const before = taken.get(id) ?? []
    const same = before.findIndex((other) => other.equals(body))
    if (same >= 0) return { file, body, lane: same }
    taken.set(id, [...before, body])
    return { file, body, lane: before.length }
  })
}

/** An example event, as a folder with one file would have it. */
function readExample({ vendor, preset }: Args): Parcel[] {
  const folder = mkdtempSync(join(tmpdir(), 'send-'))
  try {
    writeExample(folder, vendor, preset)
    return readFolder(folder, vendor)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Sends to a connection whose events the script may not read. */
async function sendOnly(target: Target, args: Args, parcels: readonly Parcel[]): Promise<void> {
  announce(target, args, parcels)
  if (!reportReceipts(await sendAll([target], parcels))) process.exitCode = 1
}

function announce({ url, connection }: Target, { folder }: Args, parcels: readonly Parcel[]): void {
  const files = parcels.length === 1 ? '1 file' : `${parcels.length} files`
  console.log(`${folder === null ? 'An example event' : `${files} of ${folder}`} → ${url}/ingest/${connection}`)
}

/** The connection that the flags name; null for connections on the local server. */
function targetOf({ url, vendor, preset, connection, secret, token, project }: Args): Target | null {
  if ((token === undefined) !== (project === undefined)) misused(COMMAND, '--token and --project must be used together')
  if (connection === undefined && token === undefined) return null
  if (connection === undefined || secret === undefined) {
    misused(COMMAND, '--connection and --signing-secret must be used together')
  }
  return { url, vendor, preset, connection, secret }
}

/** The inbox that the flags name, or inboxes on the local server. */
async function openInboxes(target: Target | null, args: Args, lanes: number): Promise<Inbox[]> {
  const { url, vendor, preset, secret, token, project, fresh } = args
  if (target === null || token === undefined || project === undefined) {
    return localInboxes(url, vendor, lanes, { signingSecret: secret, fresh, preset })
  }
  return [{ ...target, token, project }]
}

async function sendAll(inboxes: readonly Target[], parcels: readonly Parcel[]): Promise<Sent[]> {
  const sent: Sent[] = new Array(parcels.length)
  const report = progress('sent', parcels.length)
  const waiting = parcels.entries()
  let done = 0
  const work = async () => {
    for (const [i, parcel] of waiting) {
      sent[i] = await sendOne(inboxes[parcel.lane] ?? inboxes[0], parcel)
      report(++done)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return sent
}

async function sendOne(inbox: Target | undefined, { file, body }: Parcel): Promise<Sent> {
  if (!inbox) throw new Error('connection not found')
  const answer = await deliver(inbox, file, body)
  return isReceipt(answer)
    ? { file, body: answer.sent, ids: answer.body.event_ids, duplicate: answer.body.duplicate, error: null }
    : { file, body: answer.sent, ids: [], duplicate: false, error: refusal(answer) }
}
