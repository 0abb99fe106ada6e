import { createHash } from 'node:crypto'
import type { PresetName } from '../../src/vendors/verification.ts'
import { ask, findByName, must } from './api.ts'
import type { Inbox } from './deliver.ts'
import { readLocal, writeLocal } from './paths.ts'
import { newSigningSecret, type SignedVendor, USUAL_PRESET } from './sign.ts'
import { localSession } from './sign-in.ts'

type Named = { id: string; name: string }
/** Connections that the scripts created. Their signing secrets are random and used nowhere else. */
type Kept = Record<string, { connection: string; secret: string }>

const PROJECT = 'Local'
const FILE = 'connections.json'

/**
 * Inboxes on the local server: connections of the vendor in the project "Local" of the scripts' own user. Existing ones
 * are reused and missing ones created.
 *
 * @param count number of connections
 * @param options `signingSecret` replaces the random secrets; `fresh` creates new connections even if some exist; `preset`: of
 *   the vendor `hmac`
 */
export async function localInboxes(
  url: string,
  vendor: SignedVendor,
  count: number,
  options: { signingSecret?: string | undefined; fresh?: boolean | undefined; preset?: PresetName | undefined } = {},
): Promise<Inbox[]> {
  const { token } = await localSession(url)
  const project = await localProject(url, token)
  const inboxes: Inbox[] = []
  for (let number = 1; number <= count; number++) {
    const secret = options.signingSecret
    const sender = [vendor, options.preset ?? []].flat().join('-')
    const key = [url, project, sender, number, secret === undefined ? 'random' : digest(secret)].join(' ')
    const known = options.fresh ? undefined : readLocal<Kept>(FILE)?.[key]
    const base = { url, vendor, token, project, preset: options.preset }
    if (known && (await exists(base, known.connection))) {
      inboxes.push({ ...base, ...known })
    } else {
      const made = await connect(base, `Local ${sender} ${number}`, secret ?? newSigningSecret(vendor))
      writeLocal(FILE, { ...readLocal<Kept>(FILE), [key]: { connection: made.connection, secret: made.secret } })
      inboxes.push(made)
    }
  }
  return inboxes
}

type Base = Omit<Inbox, 'connection' | 'secret'>

/** Creates a connection of the vendor in the project. */
export async function connect(base: Base, name: string, secret: string): Promise<Inbox> {
  const { url, vendor, token, project } = base
  const made = await must<Named>(`${url}/platform/v1/billing/connections`, {
    token,
    project,
    json: { vendor, name, livemode: false, signing_secret: secret },
  })
  if (vendor === 'hmac') {
    const verification = `${url}/platform/v1/billing/connections/${made.id}/verification`
    await must(verification, { token, project, method: 'PUT', json: { preset: base.preset ?? USUAL_PRESET } })
  }
  return { ...base, connection: made.id, secret }
}

async function exists({ url, token, project }: Base, connection: string): Promise<boolean> {
  const { status } = await ask(`${url}/platform/v1/billing/connections/${connection}`, { token, project })
  return status === 200
}

/** The project "Local" of the scripts' own user. It is created if it is missing. */
export async function localProject(url: string, token: string): Promise<string> {
  const projects = `${url}/platform/v1/projects`
  const found = await findByName<Named>(projects, { token }, PROJECT)
  return (found ?? (await must<Named>(projects, { token, json: { name: PROJECT } }))).id
}

function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 12)
}
