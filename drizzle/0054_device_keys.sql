ALTER TABLE `devices` ADD `token_prefix` text;--> statement-breakpoint
ALTER TABLE `devices` ADD `scopes` text;--> statement-breakpoint
ALTER TABLE `devices` ADD `metadata` text;--> statement-breakpoint
ALTER TABLE `devices` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `devices` ADD `pending_hash` text;--> statement-breakpoint
ALTER TABLE `devices` ADD `pending` text;--> statement-breakpoint
ALTER TABLE `devices` ADD `previous_hash` text;--> statement-breakpoint
ALTER TABLE `devices` ADD `previous` text;--> statement-breakpoint
CREATE UNIQUE INDEX `devices_pending` ON `devices` (`pending_hash`) WHERE pending_hash IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `devices_previous` ON `devices` (`previous_hash`) WHERE previous_hash IS NOT NULL;--> statement-breakpoint
CREATE INDEX `devices_expiring` ON `devices` (`project_id`,`consumer_id`,`expires_at`) WHERE expires_at IS NOT NULL AND state = 'active';