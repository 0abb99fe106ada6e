ALTER TABLE `api_keys` ADD `allowed_networks` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `rate_limit` integer;