/*
 * npm run send -- FOLDER --vendor V: signs every *.json of a folder as the vendor signs, sends it byte for byte, waits and
 * prints what became of each.
 *
 * Against the local server (npm start) nothing else is needed: a user, a project "Local" and connections are made. For
 * any other server give --connection, --signing-secret, --token and --project.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { printBilling } from './lib/billing-table.ts'
import { awaitFinal, deliver, type Inbox, isReceipt, refusal } from './lib/deliver.ts'
import { localInboxes } from './lib/inbox.ts'
import { reportSent, type Sent } from './lib/report.ts'
import { eventIdOf, isSignedVendor, SIGNED_VENDORS } from './lib/sign.ts'
import { fail, progress, run } from './lib/terminal.ts'

const USAGE = `Usage: npm run send -- FOLDER --vendor VENDOR [--url http://localhost:8787] [--wait SECONDS]
         [--signing-secret S] [--fresh]                                        a local server
         --connection ID --signing-secret S --token T --project P              any server
Vendors: ${SIGNED_VENDORS.join(', ')}`
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
  if (!identical) process.exitCode = 1
})

function readArgs() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      vendor: { type: 'string' },
      url: { type: 'string', default: 'http://localhost:8787' },
      wait: { type: 'string', default: '120' },
      connection: { type: 'string' },
      'signing-secret': { type: 'string' },
      token: { type: 'string' },
      project: { type: 'string' },
      fresh: { type: 'boolean', default: false },
    },
  })
  const [folder, ...more] = positionals
  const { vendor, connection, token, project, fresh } = values
  if (folder === undefined || more.length > 0) fail(USAGE)
  if (vendor === 'braintree') fail('Braintree sends forms, signed inside: there is no *.json to send.')
  if (!isSignedVendor(vendor)) {
    fail(`${vendor === undefined ? '--vendor is missing' : `No such vendor: ${vendor}`}.\n${USAGE}`)
  }
  const wait = Number(values.wait)
  if (!(wait > 0)) fail(`--wait takes seconds, not ${values.wait}.`)
  if (!URL.canParse(values.url)) fail(`--url takes an address, not ${values.url}.`)
  const url = new URL(values.url).origin
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
    fail(`--connection, --signing-secret, --token and --project belong together.\n${USAGE}`)
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
    ? { file, body, ids: answer.body.event_ids, duplicate: answer.body.duplicate, error: null }
    : { file, body, ids: [], duplicate: false, error: refusal(answer) }
}
