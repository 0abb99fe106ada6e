import * as z from 'zod'
import { named, visibleText } from '../http/fields'
import { ProjectSettings } from '../tenancy/settings'
import { MAX_PROJECT_NAME } from './limits'

const name = visibleText(MAX_PROJECT_NAME)
export const ProjectBody = named('ProjectName', z.strictObject({ name }), { name: 'Acme' })

const hasAny = (changes: object) => Object.keys(changes).length > 0
const someSettings = z
  .strictObject(ProjectSettings.shape)
  .partial()
  .refine(hasAny, { error: 'must have at least one setting', params: { code: 'required' } })

export const ChangeProjectBody = named(
  'ChangeProject',
  z
    .strictObject({
      name: name.optional(),
      settings: named('ChangeProjectSettings', someSettings, { require_passkey: true }).optional(),
    })
    .refine(hasAny, { error: 'must have at least one of name and settings', params: { code: 'required' } }),
  { name: 'Acme' },
)
