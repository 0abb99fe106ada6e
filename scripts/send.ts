/*
 * npm run send -- FOLDER --vendor V: signs every *.json of a folder as the vendor signs, sends it byte for byte, waits and
 * prints what became of each.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectPaths } from '../src/console/paths.ts'
import { printBilling } from './lib/billing-table.ts'
import { awaitFinal, deliver, type Inbox, isReceipt, refusal } from './lib/deliver.ts'
import { misused, readFlags } from './lib/flags.ts'
import { localInboxes } from './lib/inbox.ts'
import { reportSent, type Sent } from './lib/report.ts'
import { serverUrl } from './lib/running.ts'
import { eventIdOf, isSignedVendor, SIGNED_VENDORS } from './lib/sign.ts'
import { LOCAL_USER } from './lib/sign-in.ts'
import { fail, progress, run } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run send -- FOLDER --vendor VENDOR [OPTIONS]',
  about: `Signs every *.json of a folder as the vendor signs, sends it, waits, and prints what became of each.
Vendors: ${SIGNED_VENDORS.join(', ')}.`,
  flags: {
    vendor: { type: 'string', takes: 'VENDOR', help: 'whose events they are' },
    url: { type: 'string', takes: 'URL', help: 'the server; otherwise the one that npm start runs here' },
    wait: { type: 'string', takes: 'SECONDS', help: 'how long to wait for the last of them', default: '120' },
    fresh: { type: 'boolean', help: 'to a new connection, whatever is there' },
    'signing-secret': { type: 'string', takes: 'SECRET', help: 'sign with this one; otherwise with a random one' },
    connection: { type: 'string', takes: 'ID', help: 'a connection of yours, with its --signing-secret, and:' },
    token: { type: 'string', takes: 'TOKEN', help: 'a key or session that may read its events' },
    project: { type: 'string', takes: 'ID', help: 'the project they are in' },
  },
  positionals: true,
  notes: `To a local server the first options are enough: it makes a project "Local" of ${LOCAL_USER}, with connections. To any
other one give --connection, --signing-secret, --token and --project.

Shopify says in a header what happened, not in the body: a file is sent under the topic in its name, orders-paid.json (or
orders-paid.2.json) as orders/paid. Adyen signs inside the body, each item for itself: what is sent is the file with its
signatures put in. Braintree sends forms, no *.json.`,
} as const
const CONCURRENCY = 8

type Args = ReturnType<typeof readArgs>
/** A file and the number of the connection it goes to, from 0. */
type Parcel = { file: string; body: Buffer<ArrayBuffer>; lane: number }

await run(async () => {
  const args = readArgs()
  const parcels = readFolder(args)
  const lanes = Math.max(...parcels.map(({ lane }) => lane)) + 1
  const inboxes = await openInboxes(args, lanes)
  const [first] = inboxes
  if (!first) throw new Error('there is no connection')
  console.log(`${parcels.length} files of ${args.folder} → ${first.url}/ingest/${first.connection}`)
  if (inboxes.length > 1) {
    const shared = parcels.filter(({ lane }) => lane > 0).length
    console.log(`${shared} of them carry the event id of another file with other bytes, which to one connection would be a
duplicate delivery: they go to ${inboxes.length - 1} more connections of project ${first.project}`)
  }
  const startedAt = Date.now()
  const sent = await sendAll(inboxes, parcels)
  const ids = [...new Set(sent.flatMap((one) => one.ids))]
  const events = await awaitFinal(first, ids, args.wait * 1000, progress('final', ids.length))
  const identical = reportSent(sent, events, Date.now() - startedAt)
  await printBilling(first, events.values())
  const who = args.connection === undefined ? ` (sign in as ${LOCAL_USER}; its code is printed by npm start)` : ''
  console.log(`\nIn the console: ${first.url}${projectPaths(first.project).events}${who}`)
  if (!identical) process.exitCode = 1
})

function readArgs() {
  const { values, positionals } = readFlags(COMMAND)
  const [folder, ...more] = positionals
  const { vendor, connection, token, project, fresh } = values
  if (folder === undefined) misused(COMMAND, 'The folder is missing')
  if (more.length > 0) misused(COMMAND, `One folder at a time, not ${positionals.join(' and ')}`)
  if (vendor === 'braintree') fail('Braintree sends forms, signed inside: there is no *.json to send.')
  if (!isSignedVendor(vendor)) {
    misused(COMMAND, vendor === undefined ? '--vendor is missing' : `There is no vendor ${vendor}`)
  }
  const wait = Number(values.wait)
  if (!(wait > 0)) fail(`--wait takes seconds, not ${values.wait}.`)
  const url = serverUrl(values.url)
  return { folder, wait, vendor, url, connection, secret: values['signing-secret'], token, project, fresh }
}

/**
 * The files in order of their names. Vendors give no two events one id; folders of examples do. A file whose event id
 * another one had with other bytes goes to the next connection, where it is no duplicate.
 */
function readFolder({ folder, vendor }: Args): Parcel[] {
  if (!existsSync(folder)) fail(`There is no folder ${folder}.`)
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
  if (files.length === 0) fail(`${folder} holds no *.json.`)
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

/** The inbox that the flags name, or the local server's own. */
async function openInboxes(args: Args, lanes: number): Promise<Inbox[]> {
  const { url, vendor, connection, secret, token, project, fresh } = args
  if (connection === undefined && token === undefined && project === undefined) {
    return localInboxes(url, vendor, lanes, { signingSecret: secret, fresh })
  }
  if (connection === undefined || secret === undefined || token === undefined || project === undefined) {
    misused(COMMAND, '--connection, --signing-secret, --token and --project belong together')
  }
  return [{ url, vendor, connection, secret, token, project }]
}

async function sendAll(inboxes: readonly Inbox[], parcels: readonly Parcel[]): Promise<Sent[]> {
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

async function sendOne(inbox: Inbox | undefined, { file, body }: Parcel): Promise<Sent> {
  if (!inbox) throw new Error('there is no connection')
  const answer = await deliver(inbox, file, body)
  return isReceipt(answer)
    ? { file, body: answer.sent, ids: answer.body.event_ids, duplicate: answer.body.duplicate, error: null }
    : { file, body: answer.sent, ids: [], duplicate: false, error: refusal(answer) }
}
