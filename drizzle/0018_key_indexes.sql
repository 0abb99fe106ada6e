CREATE INDEX `api_keys_revoked` ON `api_keys` (`project_id`,`id`) WHERE revoked_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_minter` ON `api_keys` (`created_by`) WHERE minter_email IS NOT NULL;--> statement-breakpoint
CREATE INDEX `retired_secrets_key` ON `retired_secrets` (`key_id`);