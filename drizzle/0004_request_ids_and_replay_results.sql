ALTER TABLE `audit_log` ADD `client_request_id` text;--> statement-breakpoint
ALTER TABLE `replays` ADD `processed` integer;--> statement-breakpoint
ALTER TABLE `replays` ADD `ignored` integer;--> statement-breakpoint
ALTER TABLE `replays` ADD `failed` integer;