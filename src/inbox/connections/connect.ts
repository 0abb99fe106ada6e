import * as z from 'zod'
import type { Change } from '../../audit/store'
import type { Runtime } from '../../env'
import { visibleText } from '../../http/fields'
import { equalBytes, utf8 } from '../../lib/crypto'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { VENDOR_NAMES, VENDORS, vendorOf } from '../../vendors'
import { seal, unseal } from './seal'
import {
  addSecret,
  type ConnectionRow,
  insertConnection,
  readConnection,
  type StoredSecret,
  sealContext,
} from './store'

const signingSecret = z
  .string()
  .min(1)
  .max(4096)
  .describe('As the vendor shows it; one string whatever the vendor calls its own. Write-only.')
const livemode = z.boolean().describe('By your word; shown with every record of the connection, older ones too.')
export const CreateBody = z
  .strictObject({
    vendor: z.enum(VENDOR_NAMES),
    name: visibleText(100),
    livemode: livemode.default(true),
    signing_secret: signingSecret,
  })
  .meta({ id: 'CreateConnection' })
export const UpdateBody = z
  .strictObject({
    name: visibleText(100).optional(),
    status: z.enum(['active', 'disabled']).optional(),
    livemode: livemode.optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, {
    error: 'has to have at least one field to change',
    params: { code: 'required' },
  })
  .meta({ id: 'UpdateConnection' })
export const SecretBody = z.strictObject({ signing_secret: signingSecret }).meta({ id: 'AddSigningSecret' })

/** The address to give the vendor, on the origin that this request came to. */
export function ingestUrl(url: string, connectionId: string): string {
  return `${new URL(url).origin}/ingest/${connectionId}`
}

/** Connects a billing vendor. @throws {Fault} `validation_failed`, `connection_limit_reached` */
export async function connect(
  rt: Runtime,
  projectId: string,
  { vendor, name, livemode, signing_secret }: z.infer<typeof CreateBody>,
  change: Change,
): Promise<ConnectionRow> {
  const id = newId('con', rt.now)
  const secret = await sealed(rt, VENDORS[vendor].checkSecret, projectId, id, signing_secret)
  return insertConnection(rt.db, { id, project_id: projectId, vendor, name, livemode, secret }, change)
}

/** Adds a signing secret. @throws {Fault} `not_found`, `validation_failed`, `secret_exists`, `secret_limit_reached` */
export async function addSigningSecret(
  rt: Runtime,
  projectId: string,
  id: string,
  signingSecret: string,
  change: Change,
): Promise<ConnectionRow> {
  // Each further round follows a change of the connection made meanwhile: the same secret, perhaps.
  for (;;) {
    const connection = await readConnection(rt.db, projectId, id)
    const check = vendorOf(connection.vendor)?.checkSecret ?? (() => null)
    const secret = await sealed(rt, check, projectId, id, signingSecret)
    for (const known of connection.secrets) {
      // One that does not open verifies nothing: it may be added again.
      const text = await unseal(rt.settings.encryptionKeys, known, sealContext(projectId, id, known.id)).catch(() => '')
      if (equalBytes(utf8(text), utf8(signingSecret)))
        throw new Fault('secret_exists', 'Add another one: this one is live already.')
    }
    const row = await addSecret(rt.db, connection, secret, change)
    if (row) return row
  }
}

/** A signing secret, checked for its vendor's form and encrypted. */
async function sealed(
  { now, settings }: Runtime,
  check: (secret: string) => string | null,
  project: string,
  connection: string,
  secret: string,
): Promise<StoredSecret> {
  const wrong = check(secret)
  if (wrong) {
    throw new Fault('validation_failed', `\`signing_secret\` is not of the vendor's form: ${wrong}.`, {
      errors: [{ pointer: '/signing_secret', code: 'malformed', message: wrong }],
    })
  }
  const id = newId('sec', now)
  const box = await seal(settings.encryptionKeys, secret, sealContext(project, connection, id))
  // Eight characters stay hidden: of the secret itself, without the user or scheme, or vendor's prefix, that comes first.
  const hint = secret
    .replace(/^[^:\s]*[:\s]|^(?:[a-z]+_){1,2}/, '')
    .slice(8)
    .slice(-4)
  return { id, hint, created_at: now, ...box }
}
