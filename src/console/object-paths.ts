import type { ProjectPaths } from './paths'

/** An object by its type and id. `vendor`: whose id it is, if it is not one of ours. */
type Named<Type> = { type: Type; id: string; vendor: string | null }

const ofVendor = (list: string, { billing }: ProjectPaths, id: string, vendor: string | null) =>
  `${billing}/${list}/${id}?vendor=${vendor}`

/** The devices of a consumer, on its page. */
export const devicesPath = ({ consumers }: ProjectPaths, consumer: string) => `${consumers}/${consumer}?tab=devices`

/** The page of an object of each type, or the page that lists it. */
const PATHS = {
  api_key: ({ keys }, id) => `${keys}/${id}`,
  connection: ({ connections }, id) => `${connections}/${id}`,
  consumer: ({ consumers }, id) => `${consumers}/${id}`,
  customer: ({ customers }, id, vendor) => `${customers}/${vendor}/${id}`,
  domain: ({ domains }, id) => `${domains}/${id}`,
  event: ({ events }, id) => `${events}/${id}`,
  feature: ({ features }) => features,
  invitation: ({ members }) => `${members}/invitations`,
  invoice: (paths, id, vendor) => ofVendor('invoices', paths, id, vendor),
  member: ({ members }) => members,
  payment_method: (paths, id, vendor) => ofVendor('payment-methods', paths, id, vendor),
  plan: ({ plans }, id) => `${plans}/${id}`,
  purchase: (paths, id, vendor) => ofVendor('purchases', paths, id, vendor),
  replay: ({ replays }, id) => `${replays}/${id}`,
  sso_connection: ({ sso }, id) => `${sso}/${id}`,
  subscription: (paths, id, vendor) => ofVendor('subscriptions', paths, id, vendor),
  webhook_endpoint: ({ endpoints }, id) => `${endpoints}/${id}`,
} satisfies Record<string, (paths: ProjectPaths, id: string, vendor: string | null) => string>
export type ObjectWithPath = keyof typeof PATHS

export const hasPath = (type: string): type is ObjectWithPath => Object.hasOwn(PATHS, type)

/** The path of the page that shows an object. */
export function objectPath(paths: ProjectPaths, { type, id, vendor }: Named<ObjectWithPath>): string {
  return PATHS[type](paths, encodeURIComponent(id), vendor)
}
