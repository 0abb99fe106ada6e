ALTER TABLE `events` ADD `content_digest` text;--> statement-breakpoint
ALTER TABLE `events` ADD `differing` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `events` ADD `last_differing_at` integer;