import * as z from 'zod'
import { named, visibleText } from '../http/fields'
import { ProjectSettings } from '../tenancy/settings'
import { MAX_PROJECT_NAME } from './limits'

const name = visibleText(MAX_PROJECT_NAME)
export const ProjectBody = named('ProjectName', z.strictObject({ name }), { name: 'Acme' })

export const ChangeProjectBody = named(
  'ChangeProject',
  z
    .strictObject({
      name: name.optional(),
      settings: named('ChangeProjectSettings', z.strictObject(ProjectSettings.shape).partial(), {
        require_passkey: true,
      }).optional(),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
      error: 'must have at least one of name and settings',
      params: { code: 'required' },
    }),
  { name: 'Acme' },
)
