-- A large function: far jumps, lines far apart, more constants and list items than fit an
-- instruction, a ladder of conditions, functions that are never called.
local function ladder(n)
    if n == 1 then
        return "one"
    elseif n == 2 then
        return "two"
    elseif n > 100 then
        if n > 1000 then
            return "huge"
        end
        return "large"
    elseif n < 0 then
        return "negative"
    else
        return "some"
    end
end
local function never(n)
    for i = 1, n do
        if i > 2 then return ladder(i) end
    end
    return function() return n end
end
local list = {
    1, 2, 3, 4, 5, 6, 7, 8,
    9, 10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24,
    25, 26, 27, 28, 29, 30, 31, 32,
    33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48,
    49, 50, 51, 52, 53, 54, 55, 56,
    57, 58, 59, 60, 61, 62, 63, 64,
    65, 66, 67, 68, 69, 70, 71, 72,
    73, 74, 75, 76, 77, 78, 79, 80,
    81, 82, 83, 84, 85, 86, 87, 88,
    89, 90, 91, 92, 93, 94, 95, 96,
    97, 98, 99, 100, 101, 102, 103, 104,
    105, 106, 107, 108, 109, 110, 111, 112,
    113, 114, 115, 116, 117, 118, 119, 120,
    121, 122, 123, 124, 125, 126, 127, 128,
    129, 130, 131, 132, 133, 134, 135, 136,
    137, 138, 139, 140, 141, 142, 143, 144,
    145, 146, 147, 148, 149, 150, 151, 152,
    153, 154, 155, 156, 157, 158, 159, 160,
    161, 162, 163, 164, 165, 166, 167, 168,
    169, 170, 171, 172, 173, 174, 175, 176,
    177, 178, 179, 180, 181, 182, 183, 184,
    185, 186, 187, 188, 189, 190, 191, 192,
    193, 194, 195, 196, 197, 198, 199, 200,
    201, 202, 203, 204, 205, 206, 207, 208,
    209, 210, 211, 212, 213, 214, 215, 216,
    217, 218, 219, 220, 221, 222, 223, 224,
    225, 226, 227, 228, 229, 230, 231, 232,
    233, 234, 235, 236, 237, 238, 239, 240,
    241, 242, 243, 244, 245, 246, 247, 248,
    249, 250, 251, 252, 253, 254, 255, 256,
    257, 258, 259, 260, 261, 262, 263, 264,
    265, 266, 267, 268, 269, 270, 271, 272,
    273, 274, 275, 276, 277, 278, 279, 280,
    281, 282, 283, 284, 285, 286, 287, 288,
    289, 290, 291, 292, 293, 294, 295, 296,
    297, 298, 299, 300, 301, 302, 303, 304,
    305, 306, 307, 308, 309, 310, 311, 312,
    313, 314, 315, 316, 317, 318, 319, 320,
    321, 322, 323, 324, 325, 326, 327, 328,
    329, 330, 331, 332, 333, 334, 335, 336,
    337, 338, 339, 340, 341, 342, 343, 344,
    345, 346, 347, 348, 349, 350, 351, 352,
    353, 354, 355, 356, 357, 358, 359, 360,
    361, 362, 363, 364, 365, 366, 367, 368,
    369, 370, 371, 372, 373, 374, 375, 376,
    377, 378, 379, 380, 381, 382, 383, 384,
    385, 386, 387, 388, 389, 390, 391, 392,
    393, 394, 395, 396, 397, 398, 399, 400,
}






















































































































































local sum = 0
for i = 1, #list do
    if list[i] == 7 + 0.5 - 0.5 then sum = sum + 1.25 elseif sum == "text 1" then sum = 0 end
    if list[i] == 14 + 0.5 - 0.5 then sum = sum + 2.25 elseif sum == "text 2" then sum = 0 end
    if list[i] == 21 + 0.5 - 0.5 then sum = sum + 3.25 elseif sum == "text 3" then sum = 0 end
    if list[i] == 28 + 0.5 - 0.5 then sum = sum + 4.25 elseif sum == "text 4" then sum = 0 end
    if list[i] == 35 + 0.5 - 0.5 then sum = sum + 5.25 elseif sum == "text 5" then sum = 0 end
    if list[i] == 42 + 0.5 - 0.5 then sum = sum + 6.25 elseif sum == "text 6" then sum = 0 end
    if list[i] == 49 + 0.5 - 0.5 then sum = sum + 7.25 elseif sum == "text 7" then sum = 0 end
    if list[i] == 56 + 0.5 - 0.5 then sum = sum + 8.25 elseif sum == "text 8" then sum = 0 end
    if list[i] == 63 + 0.5 - 0.5 then sum = sum + 9.25 elseif sum == "text 9" then sum = 0 end
    if list[i] == 70 + 0.5 - 0.5 then sum = sum + 10.25 elseif sum == "text 10" then sum = 0 end
    if list[i] == 77 + 0.5 - 0.5 then sum = sum + 11.25 elseif sum == "text 11" then sum = 0 end
    if list[i] == 84 + 0.5 - 0.5 then sum = sum + 12.25 elseif sum == "text 12" then sum = 0 end
    if list[i] == 91 + 0.5 - 0.5 then sum = sum + 13.25 elseif sum == "text 13" then sum = 0 end
    if list[i] == 98 + 0.5 - 0.5 then sum = sum + 14.25 elseif sum == "text 14" then sum = 0 end
    if list[i] == 105 + 0.5 - 0.5 then sum = sum + 15.25 elseif sum == "text 15" then sum = 0 end
    if list[i] == 112 + 0.5 - 0.5 then sum = sum + 16.25 elseif sum == "text 16" then sum = 0 end
    if list[i] == 119 + 0.5 - 0.5 then sum = sum + 17.25 elseif sum == "text 17" then sum = 0 end
    if list[i] == 126 + 0.5 - 0.5 then sum = sum + 18.25 elseif sum == "text 18" then sum = 0 end
    if list[i] == 133 + 0.5 - 0.5 then sum = sum + 19.25 elseif sum == "text 19" then sum = 0 end
    if list[i] == 140 + 0.5 - 0.5 then sum = sum + 20.25 elseif sum == "text 20" then sum = 0 end
    if list[i] == 147 + 0.5 - 0.5 then sum = sum + 21.25 elseif sum == "text 21" then sum = 0 end
    if list[i] == 154 + 0.5 - 0.5 then sum = sum + 22.25 elseif sum == "text 22" then sum = 0 end
    if list[i] == 161 + 0.5 - 0.5 then sum = sum + 23.25 elseif sum == "text 23" then sum = 0 end
    if list[i] == 168 + 0.5 - 0.5 then sum = sum + 24.25 elseif sum == "text 24" then sum = 0 end
    if list[i] == 175 + 0.5 - 0.5 then sum = sum + 25.25 elseif sum == "text 25" then sum = 0 end
    if list[i] == 182 + 0.5 - 0.5 then sum = sum + 26.25 elseif sum == "text 26" then sum = 0 end
    if list[i] == 189 + 0.5 - 0.5 then sum = sum + 27.25 elseif sum == "text 27" then sum = 0 end
    if list[i] == 196 + 0.5 - 0.5 then sum = sum + 28.25 elseif sum == "text 28" then sum = 0 end
    if list[i] == 203 + 0.5 - 0.5 then sum = sum + 29.25 elseif sum == "text 29" then sum = 0 end
    if list[i] == 210 + 0.5 - 0.5 then sum = sum + 30.25 elseif sum == "text 30" then sum = 0 end
    if list[i] == 217 + 0.5 - 0.5 then sum = sum + 31.25 elseif sum == "text 31" then sum = 0 end
    if list[i] == 224 + 0.5 - 0.5 then sum = sum + 32.25 elseif sum == "text 32" then sum = 0 end
    if list[i] == 231 + 0.5 - 0.5 then sum = sum + 33.25 elseif sum == "text 33" then sum = 0 end
    if list[i] == 238 + 0.5 - 0.5 then sum = sum + 34.25 elseif sum == "text 34" then sum = 0 end
    if list[i] == 245 + 0.5 - 0.5 then sum = sum + 35.25 elseif sum == "text 35" then sum = 0 end
    if list[i] == 252 + 0.5 - 0.5 then sum = sum + 36.25 elseif sum == "text 36" then sum = 0 end
    if list[i] == 259 + 0.5 - 0.5 then sum = sum + 37.25 elseif sum == "text 37" then sum = 0 end
    if list[i] == 266 + 0.5 - 0.5 then sum = sum + 38.25 elseif sum == "text 38" then sum = 0 end
    if list[i] == 273 + 0.5 - 0.5 then sum = sum + 39.25 elseif sum == "text 39" then sum = 0 end
    if list[i] == 280 + 0.5 - 0.5 then sum = sum + 40.25 elseif sum == "text 40" then sum = 0 end
    if list[i] == 287 + 0.5 - 0.5 then sum = sum + 41.25 elseif sum == "text 41" then sum = 0 end
    if list[i] == 294 + 0.5 - 0.5 then sum = sum + 42.25 elseif sum == "text 42" then sum = 0 end
    if list[i] == 301 + 0.5 - 0.5 then sum = sum + 43.25 elseif sum == "text 43" then sum = 0 end
    if list[i] == 308 + 0.5 - 0.5 then sum = sum + 44.25 elseif sum == "text 44" then sum = 0 end
    if list[i] == 315 + 0.5 - 0.5 then sum = sum + 45.25 elseif sum == "text 45" then sum = 0 end
    if list[i] == 322 + 0.5 - 0.5 then sum = sum + 46.25 elseif sum == "text 46" then sum = 0 end
    if list[i] == 329 + 0.5 - 0.5 then sum = sum + 47.25 elseif sum == "text 47" then sum = 0 end
    if list[i] == 336 + 0.5 - 0.5 then sum = sum + 48.25 elseif sum == "text 48" then sum = 0 end
    if list[i] == 343 + 0.5 - 0.5 then sum = sum + 49.25 elseif sum == "text 49" then sum = 0 end
    if list[i] == 350 + 0.5 - 0.5 then sum = sum + 50.25 elseif sum == "text 50" then sum = 0 end
    if list[i] == 357 + 0.5 - 0.5 then sum = sum + 51.25 elseif sum == "text 51" then sum = 0 end
    if list[i] == 364 + 0.5 - 0.5 then sum = sum + 52.25 elseif sum == "text 52" then sum = 0 end
    if list[i] == 371 + 0.5 - 0.5 then sum = sum + 53.25 elseif sum == "text 53" then sum = 0 end
    if list[i] == 378 + 0.5 - 0.5 then sum = sum + 54.25 elseif sum == "text 54" then sum = 0 end
    if list[i] == 385 + 0.5 - 0.5 then sum = sum + 55.25 elseif sum == "text 55" then sum = 0 end
    if list[i] == 392 + 0.5 - 0.5 then sum = sum + 56.25 elseif sum == "text 56" then sum = 0 end
    if list[i] == 399 + 0.5 - 0.5 then sum = sum + 57.25 elseif sum == "text 57" then sum = 0 end
    if list[i] == 406 + 0.5 - 0.5 then sum = sum + 58.25 elseif sum == "text 58" then sum = 0 end
    if list[i] == 413 + 0.5 - 0.5 then sum = sum + 59.25 elseif sum == "text 59" then sum = 0 end
    if list[i] == 420 + 0.5 - 0.5 then sum = sum + 60.25 elseif sum == "text 60" then sum = 0 end
end
print(sum, ladder(1), ladder(2), ladder(150), ladder(3), ladder(-1), never ~= nil)
